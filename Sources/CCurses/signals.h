#pragma once
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// Signal handlers are C: what a handler may do (signal-safety(7)) Swift does not promise of any of
// its code. The state is `static` in a header, so exactly one Swift file may call these functions.

static volatile int curses_relay_descriptor = -1;

static void curses_relay_handler(int signal) {
    int saved = errno;
    unsigned char byte = (unsigned char)signal;
    // A full pipe already wakes its reader.
    (void)!write(curses_relay_descriptor, &byte, 1);
    errno = saved;
}

/// Lets `signal` write its number as one byte to `descriptor`; `previous` receives what it did before.
static inline int curses_relay_signal(int signal, int descriptor, struct sigaction *previous) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    curses_relay_descriptor = descriptor;
    action.sa_handler = curses_relay_handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, previous);
}

/// Gives `signal` its default action; `previous` receives what it did before.
static inline int curses_default_signal(int signal, struct sigaction *previous) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, previous);
}

static volatile int curses_reset_descriptor = -1;
static volatile int curses_reset_stderr = -1;
// Initialised: what is only declared is not emitted into the Swift module that uses it.
static struct termios curses_reset_modes = {0};

/// Leaves the alternate screen, shows the cursor, ends paste mode and the keypad, resets the colours.
static const char curses_reset_bytes[] = "\033[?1049l\033[?25h\033[?2004l\033[?1l\033>\033[0m";

static void curses_fault_handler(int signal) {
    if (curses_reset_descriptor >= 0) {
        (void)!write(curses_reset_descriptor, curses_reset_bytes, sizeof curses_reset_bytes - 1);
        tcsetattr(curses_reset_descriptor, TCSANOW, &curses_reset_modes);
    }
    if (curses_reset_stderr >= 0) dup2(curses_reset_stderr, STDERR_FILENO);
    // The handler was installed with SA_RESETHAND: this ends the process as the fault would have.
    raise(signal);
}

/// Names what a fault must restore: the terminal, its modes, and standard error.
static inline void curses_arm_reset(int descriptor, const struct termios *modes, int standard_error) {
    curses_reset_modes = *modes;
    curses_reset_stderr = standard_error;
    curses_reset_descriptor = descriptor;
}

/// Restores nothing any more.
static inline void curses_disarm_reset(void) {
    curses_reset_descriptor = -1;
    curses_reset_stderr = -1;
}

/// Lets a fault restore the terminal before it ends the process.
static inline int curses_catch_fault(int signal, struct sigaction *previous) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = curses_fault_handler;
    action.sa_flags = SA_RESETHAND | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, previous);
}
