#define _GNU_SOURCE
#include "CSystem.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

void csystem_name_thread(const char *name) {
    char bounded[16] = {0};
    strncpy(bounded, name, sizeof bounded - 1);
    pthread_setname_np(pthread_self(), bounded);
}

enum {
    // Larger than any page; the kernel's own frame takes a few kilobytes on machines with wide registers.
    guard_size = 64 * 1024,
    stack_size = 64 * 1024,
};

void *csystem_add_fault_stack(void) {
    char *area = mmap(NULL, guard_size + stack_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) return NULL;
    stack_t stack = {.ss_sp = area + guard_size, .ss_size = stack_size};
    if (mprotect(stack.ss_sp, stack_size, PROT_READ | PROT_WRITE) == 0 && sigaltstack(&stack, NULL) == 0) return area;
    munmap(area, guard_size + stack_size);
    return NULL;
}

void csystem_remove_fault_stack(void *stack) {
    if (!stack) return;
    stack_t none = {.ss_flags = SS_DISABLE};
    // Fails while a handler runs on it: then it stays.
    if (sigaltstack(&none, NULL) == 0) munmap(stack, guard_size + stack_size);
}
