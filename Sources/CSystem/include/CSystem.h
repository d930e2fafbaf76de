#pragma once

/// Names the calling thread for debuggers and `top -H`; the kernel keeps the first 15 bytes.
///
/// `pthread_setname_np` is a GNU extension that Swift's Glibc module hides.
void csystem_name_thread(const char *name);
