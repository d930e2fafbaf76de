#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// Signal handlers are written in C, since Swift does not guarantee that any of its code is async-signal-safe
// (signal-safety(7)). They are not in a header, where each object file would have its own copy of the
// `static` state, and a handler could read another copy than the one written.

static atomic_int relay_descriptor = -1;
static atomic_int reset_descriptor = -1;
static atomic_int reset_stderr = -1;
// Written only while `reset_descriptor` is -1, and read only by a handler that saw another value.
static struct termios reset_modes;
static char reset_text[128];
static char reset_message[4200];

static void relay_handler(int signal) {
    int saved = errno;
    unsigned char byte = (unsigned char)signal;
    // If the pipe is full, its reader is already awake.
    (void)!write(relay_descriptor, &byte, 1);
    errno = saved;
}

static void put(int descriptor, const char *text) { (void)!write(descriptor, text, strlen(text)); }

static void fault_handler(int signal) {
    int descriptor = reset_descriptor;
    int standard_error = reset_stderr;
    if (descriptor >= 0) {
        put(descriptor, reset_text);
        tcsetattr(descriptor, TCSANOW, &reset_modes);
    }
    if (standard_error >= 0) {
        dup2(standard_error, STDERR_FILENO);
        put(STDERR_FILENO, "reprise: ended by SIG");
        put(STDERR_FILENO, sigabbrev_np(signal));
        put(STDERR_FILENO, reset_message);
        put(STDERR_FILENO, "\n");
    }
    // Installed with SA_RESETHAND, so the default action now ends the process as the fault would have.
    raise(signal);
}

static int install(int signal, void (*handler)(int), int flags, struct sigaction *previous) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, previous);
}

int cterminal_relay_signal(int signal, int descriptor, struct sigaction *previous) {
    relay_descriptor = descriptor;
    return install(signal, relay_handler, SA_RESTART, previous);
}

void cterminal_end_relay(void) { relay_descriptor = -1; }

int cterminal_default_signal(int signal, struct sigaction *previous) {
    return install(signal, SIG_DFL, 0, previous);
}

int cterminal_catch_fault(int signal, struct sigaction *previous) {
    return install(signal, fault_handler, (int)(SA_RESETHAND | SA_ONSTACK), previous);
}

static void copy(char *target, size_t size, const char *text) {
    size_t length = strlen(text);
    if (length >= size) length = 0;
    memcpy(target, text, length);
    target[length] = 0;
}

void cterminal_arm_reset(
    int descriptor, const struct termios *modes, int standard_error, const char *reset, const char *message) {
    cterminal_disarm_reset();
    copy(reset_text, sizeof reset_text, reset);
    copy(reset_message, sizeof reset_message, message);
    reset_modes = *modes;
    reset_stderr = standard_error;
    reset_descriptor = descriptor;
}

void cterminal_disarm_reset(void) {
    reset_descriptor = -1;
    reset_stderr = -1;
}
