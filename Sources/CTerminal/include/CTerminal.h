#pragma once
#include <signal.h>
#include <termios.h>

/// Lets `signal` write its number as one byte to `descriptor`, which should not block.
///
/// There is one descriptor for all relayed signals: the last one named. `previous` receives what the
/// signal did before. Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_relay_signal(int signal, int descriptor, struct sigaction *previous);

/// Lets a handler that is still running on another thread write nowhere: the descriptor may now be closed.
void cterminal_end_relay(void);

/// Gives `signal` its default action; `previous` receives what it did before.
///
/// Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_default_signal(int signal, struct sigaction *previous);

/// Lets a fault restore what `cterminal_arm_reset` named before it ends the process as it would have.
///
/// `previous` receives what the signal did before. Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_catch_fault(int signal, struct sigaction *previous);

/// Names what a fault must restore: the terminal, its modes, and standard error (-1 leaves that alone).
///
/// The terminal is sent `reset`; standard error is told which signal ended the
/// program, and `message`. Both are copied, as far as they are no longer than a path may be.
/// Not to be called by two threads at the same time; a fault may come on any thread at any time.
void cterminal_arm_reset(
    int descriptor, const struct termios *modes, int standard_error, const char *reset, const char *message);

/// Lets a fault restore nothing any more.
void cterminal_disarm_reset(void);
