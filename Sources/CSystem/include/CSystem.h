#pragma once

/// Names the calling thread for debuggers and `top -H`; the kernel keeps the first 15 bytes.
///
/// `pthread_setname_np` is a GNU extension that Swift's Glibc module hides.
void csystem_name_thread(const char *name);

/// Gives the calling thread a second stack for signal handlers that were installed with SA_ONSTACK, so that
/// they run even if the thread's own stack is exhausted. The memory below it is inaccessible.
///
/// Returns the argument for `csystem_remove_fault_stack`; NULL if memory ran out.
void *csystem_add_fault_stack(void);

/// Removes the stack that `csystem_add_fault_stack` returned from the calling thread; NULL does nothing.
void csystem_remove_fault_stack(void *stack);

/// Frees the disk space of `count` bytes of a file from `offset` on: they read as zeros, and the length does
/// not change. Returns 0, or -1 with `errno`.
///
/// `fallocate` is a GNU extension that Swift's Glibc module hides.
int csystem_punch(int descriptor, long long offset, long long count);

/// The first offset from `offset` on where a file has data, or the first in a hole; the end of the file
/// counts as a hole. Returns -1 with `errno` ENXIO if there is none.
///
/// SEEK_DATA and SEEK_HOLE of lseek(2) are GNU extensions too. They move the descriptor's own offset.
long long csystem_next_data(int descriptor, long long offset);
long long csystem_next_hole(int descriptor, long long offset);

/// The user and the process at the other end of a connected Unix socket. Returns 0, or -1 with `errno`.
///
/// `struct ucred` is a GNU extension that Swift's Glibc module hides.
int csystem_peer(int descriptor, unsigned *user, int *process);

/// Lets `free` return blocks of 256 KiB or more to the system at once, and all threads share two arenas.
///
/// By default, glibc raises that limit to the size of the largest block that was freed, and keeps twice as
/// much at the end of each thread's heap (mallopt(3)): with frames of megabytes, 3 MB more. With an arena for
/// each thread, blocks that no other thread may use would take 0.5 MB more in all, and each arena 64 MB of
/// addresses.
void csystem_limit_free_blocks(void);

/// A function of a library: its name, and the variable for its address.
struct csystem_function {
    const char *name;
    void **slot;
};

/// Opens the library with this soname for the rest of the process, and finds `count` functions of it. The
/// loaders of the libraries call it; each loader is called once per process.
///
/// Returns NULL, or the reason why it failed, which is valid until the calling thread calls `dlopen(3)` or
/// `dlsym(3)` again. No function of the library may be called before this has returned NULL.
const char *csystem_open_library(const char *soname, const struct csystem_function *functions, unsigned long count);

/// `FUNCTIONS(X)` lists the result, name, parameters and arguments of each function that is used.
/// `FUNCTIONS(CSYSTEM_FORWARD)` defines functions of these names that call the library's, and
/// `{FUNCTIONS(CSYSTEM_SLOT)}` is the array for `csystem_open_library`. The linker refuses a call of a
/// function that is not in the list.
#define CSYSTEM_FORWARD(result, name, parameters, arguments) \
    static __typeof__(name) *loaded_##name; \
    result name parameters { return loaded_##name arguments; }
#define CSYSTEM_SLOT(result, name, parameters, arguments) {#name, (void **)&loaded_##name},
