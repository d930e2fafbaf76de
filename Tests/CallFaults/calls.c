// Preloaded into a program (LD_PRELOAD), counts its calls that change files below one folder, and at one of
// them kills the program or has the disk be full. Without the variables below it changes nothing.
//
// CALL_FAULTS_OVERFLOW a thread's name: the third time that it waits for news it uses up its stack
// CALL_FAULTS_FOLDER the folder, an absolute path without symlinks CALL_FAULTS_COUNTER a file of 8 bytes that
// holds the count so far, in the machine's order; shared, so that it
//                      is read by others while the program runs and after it was killed
// CALL_FAULTS_AT the number of the call, from 0 CALL_FAULTS_KIND kill: the program is gone in the middle of
// that call; full: from that call on nothing more
//                      can be written; full-once: that call alone fails

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *folder;
static size_t folder_length;
static long fault_at = -1;
static enum { none, kill_here, full, full_once, no_locks } kind = none;
static long *counter;
static const char *overflowing_thread;

__attribute__((constructor)) static void set_up(void) {
    const char *path = getenv("CALL_FAULTS_COUNTER");
    const char *at = getenv("CALL_FAULTS_AT");
    const char *what = getenv("CALL_FAULTS_KIND");
    const char *where = getenv("CALL_FAULTS_FOLDER");
    overflowing_thread = getenv("CALL_FAULTS_OVERFLOW");
    if (!path || !where) return;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *page = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (page == MAP_FAILED) return;
    counter = page;
    if (at) fault_at = atol(at);
    if (what && !strcmp(what, "kill")) kind = kill_here;
    if (what && !strcmp(what, "full")) kind = full;
    if (what && !strcmp(what, "full-once")) kind = full_once;
    if (what && !strcmp(what, "no-locks")) kind = no_locks;
    folder_length = strlen(where);
    folder = where;
}

static int is_inside(const char *path) {
    return folder && !strncmp(path, folder, folder_length)
        && (path[folder_length] == '/' || path[folder_length] == 0);
}

static int is_descriptor_inside(int descriptor) {
    if (!folder) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    return is_inside(path);
}

static int is_place_inside(int descriptor, const char *path) {
    return path[0] == '/' || descriptor == AT_FDCWD ? is_inside(path) : is_descriptor_inside(descriptor);
}

// Counts a call; whether it is one that must fail or that kills.
static int is_faulty(void) {
    long number = __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
    return kind == full ? number >= fault_at : kind != none && kind != no_locks && number == fault_at;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A call that needs room on the disk: on a full one, half of what it would write is written first.
#define WRITING(isInside, half, call)                                                                                  \
    do {                                                                                                               \
        if (!(isInside) || !is_faulty()) return call;                                                                  \
        half;                                                                                                          \
        if (kind == kill_here) die();                                                                                  \
        errno = ENOSPC;                                                                                                \
        return -1;                                                                                                     \
    } while (0)

// A call that a full disk allows.
#define CHANGING(isInside, call)                                                                                       \
    do {                                                                                                               \
        if ((isInside) && is_faulty() && kind == kill_here) die();                                                     \
        return call;                                                                                                   \
    } while (0)

// Touches all of the stack and then what lies below it.
__attribute__((noinline)) static int recurse(volatile char *outer) {
    volatile char frame[1024];
    frame[0] = outer[0];
    return recurse(frame) + frame[0];
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
    static int waits;
    char name[16] = {0};
    if (overflowing_thread && pthread_getname_np(pthread_self(), name, sizeof name) == 0
        && !strcmp(name, overflowing_thread) && ++waits == 3)
        return recurse(name);
    return REAL(poll)(descriptors, count, timeout);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    WRITING(is_descriptor_inside(descriptor), REAL(write)(descriptor, bytes, count / 2),
            REAL(write)(descriptor, bytes, count));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    WRITING(is_descriptor_inside(descriptor), REAL(pwrite)(descriptor, bytes, count / 2, offset),
            REAL(pwrite)(descriptor, bytes, count, offset));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    WRITING(is_descriptor_inside(descriptor), REAL(pwrite64)(descriptor, bytes, count / 2, offset),
            REAL(pwrite64)(descriptor, bytes, count, offset));
}

int fdatasync(int descriptor) {
    WRITING(is_descriptor_inside(descriptor), (void)0, REAL(fdatasync)(descriptor));
}

int fsync(int descriptor) {
    WRITING(is_descriptor_inside(descriptor), (void)0, REAL(fsync)(descriptor));
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    WRITING(is_descriptor_inside(descriptor), (void)0, REAL(fallocate)(descriptor, mode, offset, length));
}

int mkdirat(int descriptor, const char *path, mode_t mode) {
    WRITING(is_place_inside(descriptor, path), (void)0, REAL(mkdirat)(descriptor, path, mode));
}

int ftruncate(int descriptor, off_t length) {
    CHANGING(is_descriptor_inside(descriptor), REAL(ftruncate)(descriptor, length));
}

int ftruncate64(int descriptor, off64_t length) {
    CHANGING(is_descriptor_inside(descriptor), REAL(ftruncate64)(descriptor, length));
}

int unlink(const char *path) { CHANGING(is_inside(path), REAL(unlink)(path)); }

int unlinkat(int descriptor, const char *path, int flags) {
    CHANGING(is_place_inside(descriptor, path), REAL(unlinkat)(descriptor, path, flags));
}

int renameat(int descriptor, const char *path, int other, const char *name) {
    CHANGING(is_place_inside(descriptor, path), REAL(renameat)(descriptor, path, other, name));
}

// The third argument of fcntl is a pointer or a number; both fit into one register.
#define LOCKING(name)                                                                                                  \
    int name(int descriptor, int command, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, command);                                                                                  \
        void *argument = va_arg(arguments, void *);                                                                    \
        va_end(arguments);                                                                                             \
        int locks = command == F_GETLK || command == F_SETLK || command == F_SETLKW;                                   \
        if (kind == no_locks && locks && is_descriptor_inside(descriptor)) {                                           \
            errno = ENOLCK;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        return REAL(name)(descriptor, command, argument);                                                              \
    }

LOCKING(fcntl)
LOCKING(fcntl64)
