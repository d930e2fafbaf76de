#include "CSystem.h"

#include <malloc.h>

void csystem_return_large_blocks(void) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
#endif
}
