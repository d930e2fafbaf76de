#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>

int csystem_punch(int descriptor, long long offset, long long count) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}
