#include "CCurl.h"
#include "CSystem.h"

#include <stddef.h>

struct ccurl_functions ccurl_functions;

const char *ccurl_load(void) {
    const struct csystem_function functions[] = {
        {"curl_global_init", (void **)&ccurl_functions.global_init},
        {"curl_slist_append", (void **)&ccurl_functions.slist_append},
        {"curl_slist_free_all", (void **)&ccurl_functions.slist_free_all},
        {"curl_easy_init", (void **)&ccurl_functions.easy_init},
        {"curl_easy_cleanup", (void **)&ccurl_functions.easy_cleanup},
        {"curl_easy_pause", (void **)&ccurl_functions.easy_pause},
        {"curl_easy_strerror", (void **)&ccurl_functions.easy_strerror},
        {"curl_easy_setopt", (void **)&ccurl_functions.easy_setopt},
        {"curl_easy_getinfo", (void **)&ccurl_functions.easy_getinfo},
        {"curl_multi_init", (void **)&ccurl_functions.multi_init},
        {"curl_multi_cleanup", (void **)&ccurl_functions.multi_cleanup},
        {"curl_multi_add_handle", (void **)&ccurl_functions.multi_add_handle},
        {"curl_multi_remove_handle", (void **)&ccurl_functions.multi_remove_handle},
        {"curl_multi_perform", (void **)&ccurl_functions.multi_perform},
        {"curl_multi_poll", (void **)&ccurl_functions.multi_poll},
        {"curl_multi_wakeup", (void **)&ccurl_functions.multi_wakeup},
        {"curl_multi_info_read", (void **)&ccurl_functions.multi_info_read},
        {"curl_multi_setopt", (void **)&ccurl_functions.multi_setopt},
    };
    // The soname's 4 is libcurl's promise that every later version has the same interface.
    const char *reason =
        csystem_open_library("libcurl.so.4", functions, sizeof functions / sizeof *functions);
    if (reason == NULL && ccurl_functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return "it refuses to initialise";
    }
    return reason;
}
