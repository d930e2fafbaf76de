#include "CSystem.h"

#include <dlfcn.h>
#include <stddef.h>

/// The reason why the last call failed; `dlerror` returns it only once.
static const char *reason(void) {
    const char *text = dlerror();
    return text != NULL ? text : "unknown reason";
}

const char *csystem_open_library(const char *soname, const struct csystem_function *functions, unsigned long count) {
    // Never closed: the library's threads and exit handlers may outlive any caller.
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return reason();
    for (unsigned long index = 0; index < count; index++) {
        *functions[index].slot = dlsym(library, functions[index].name);
        if (*functions[index].slot == NULL) return reason();
    }
    return NULL;
}
