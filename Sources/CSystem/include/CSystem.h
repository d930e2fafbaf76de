#pragma once

/// Names the calling thread for debuggers and `top -H`; the kernel keeps the first 15 bytes.
///
/// `pthread_setname_np` is a GNU extension that Swift's Glibc module hides.
void csystem_name_thread(const char *name);

/// Gives the calling thread a stack of its own for handlers that were installed with SA_ONSTACK, so that they run
/// when the thread's own stack is used up. What lies below it is no memory.
///
/// Returns what `csystem_remove_fault_stack` takes; a null pointer where there is no memory for it.
void *csystem_add_fault_stack(void);

/// Takes the stack that `csystem_add_fault_stack` returned from the calling thread; null changes nothing.
void csystem_remove_fault_stack(void *stack);

/// Gives the disk back what `count` bytes of a file from `offset` on take; reads find zeros there and the
/// length stays. 0, or -1 with `errno`.
///
/// `fallocate` is a GNU extension that Swift's Glibc module hides.
int csystem_punch(int descriptor, long long offset, long long count);

/// The first offset from `offset` on where a file takes room, or the first where it takes none; the end of the file
/// counts as the latter. -1 with `errno` ENXIO where there is none.
///
/// SEEK_DATA and SEEK_HOLE of lseek(2) are GNU extensions too. The descriptor's own offset is moved.
long long csystem_next_data(int descriptor, long long offset);
long long csystem_next_hole(int descriptor, long long offset);

/// A function of a library: its name, and where its address belongs.
struct csystem_function {
    const char *name;
    void **slot;
};

/// Opens the library with this soname for the rest of the process, and finds `count` functions of it.
///
/// Returns NULL, or why not: words that are good until the calling thread calls `dlopen(3)` or `dlsym(3)` again.
const char *csystem_open_library(const char *soname, const struct csystem_function *functions, unsigned long count);
