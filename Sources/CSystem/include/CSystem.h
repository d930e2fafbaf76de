#pragma once

/// Names the calling thread for debuggers and `top -H`; the kernel keeps the first 15 bytes.
///
/// `pthread_setname_np` is a GNU extension that Swift's Glibc module hides.
void csystem_name_thread(const char *name);

/// Gives the disk back what `count` bytes of a file from `offset` on take; reads find zeros there and the
/// length stays. 0, or -1 with `errno`.
///
/// `fallocate` is a GNU extension that Swift's Glibc module hides.
int csystem_punch(int descriptor, long long offset, long long count);
