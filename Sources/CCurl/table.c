// Not exported: libcurl itself must go on calling its own functions of these names.
#pragma GCC visibility push(hidden)
#include "CCurl.h"
#pragma GCC visibility pop

#include "CSystem.h"

#define FUNCTIONS(X) \
    X(CURLcode, curl_global_init, (long flags), (flags)) \
    X(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *text), (list, text)) \
    X(void, curl_slist_free_all, (struct curl_slist *list), (list)) \
    X(CURL *, curl_easy_init, (void), ()) \
    X(void, curl_easy_cleanup, (CURL *handle), (handle)) \
    X(CURLcode, curl_easy_pause, (CURL *handle, int directions), (handle, directions)) \
    X(const char *, curl_easy_strerror, (CURLcode code), (code)) \
    X(CURLM *, curl_multi_init, (void), ()) \
    X(CURLMcode, curl_multi_cleanup, (CURLM *multi), (multi)) \
    X(CURLMcode, curl_multi_add_handle, (CURLM *multi, CURL *handle), (multi, handle)) \
    X(CURLMcode, curl_multi_remove_handle, (CURLM *multi, CURL *handle), (multi, handle)) \
    X(CURLMcode, curl_multi_perform, (CURLM *multi, int *running), (multi, running)) \
    X(CURLMcode, curl_multi_poll, \
      (CURLM *multi, struct curl_waitfd extra[], unsigned int extra_count, int milliseconds, int *ready), \
      (multi, extra, extra_count, milliseconds, ready)) \
    X(CURLMcode, curl_multi_wakeup, (CURLM *multi), (multi)) \
    X(CURLMsg *, curl_multi_info_read, (CURLM *multi, int *left), (multi, left))

FUNCTIONS(CSYSTEM_FORWARD)

struct ccurl_variadic_functions ccurl_variadic_functions;

const char *ccurl_load(void) {
    const struct csystem_function functions[] = {
        FUNCTIONS(CSYSTEM_SLOT)
        {"curl_easy_setopt", (void **)&ccurl_variadic_functions.easy_setopt},
        {"curl_easy_getinfo", (void **)&ccurl_variadic_functions.easy_getinfo},
        {"curl_multi_setopt", (void **)&ccurl_variadic_functions.multi_setopt},
    };
    // The soname's 4 is libcurl's promise that every later version has the same interface.
    const char *reason =
        csystem_open_library("libcurl.so.4", functions, sizeof functions / sizeof *functions);
    if (reason == NULL && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return "it refuses to initialise";
    return reason;
}
