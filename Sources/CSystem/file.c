#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int csystem_punch(int descriptor, long long offset, long long count) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}

long long csystem_next_data(int descriptor, long long offset) { return lseek(descriptor, offset, SEEK_DATA); }

long long csystem_next_hole(int descriptor, long long offset) { return lseek(descriptor, offset, SEEK_HOLE); }

int csystem_peer(int descriptor, unsigned *user, int *process) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}
