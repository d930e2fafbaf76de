#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <unistd.h>

int csystem_punch(int descriptor, long long offset, long long count) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}

long long csystem_next_data(int descriptor, long long offset) { return lseek(descriptor, offset, SEEK_DATA); }

long long csystem_next_hole(int descriptor, long long offset) { return lseek(descriptor, offset, SEEK_HOLE); }
