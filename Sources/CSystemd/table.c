#include "CSystemd.h"

CSYSTEMD_FUNCTIONS(CSYSTEM_FORWARD)

const char *csystemd_load(void) {
    const struct csystem_function functions[] = {CSYSTEMD_FUNCTIONS(CSYSTEM_SLOT)};
    return csystem_open_library("libsystemd.so.0", functions, sizeof functions / sizeof *functions);
}
