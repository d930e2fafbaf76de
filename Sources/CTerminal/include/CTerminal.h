#pragma once
#include <signal.h>
#include <termios.h>

/// Makes `signal` write its number as one byte to `descriptor`, which should be non-blocking.
///
/// All relayed signals share one descriptor: that of the last call. `previous` receives the earlier action of
/// the signal. Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_relay_signal(int signal, int descriptor, struct sigaction *previous);

/// Makes a handler still running on another thread write nothing, so that the descriptor can be closed.
void cterminal_end_relay(void);

/// Gives `signal` its default action; `previous` receives the earlier one.
///
/// Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_default_signal(int signal, struct sigaction *previous);

/// Makes a fault restore the state given to `cterminal_arm_reset` before it ends the process.
///
/// `previous` receives the earlier action of the signal. Returns 0, or -1 with `errno` as sigaction(2).
int cterminal_catch_fault(int signal, struct sigaction *previous);

/// Sets the state that a fault must restore: the terminal, its modes, and standard error (-1 leaves that
/// alone).
///
/// A fault writes `reset` to the terminal, and the name of the signal and `message` to standard error. Both
/// texts are copied, and left out if longer than a path can be. Must not be called by two threads at once; a
/// fault can come on any thread at any time.
void cterminal_arm_reset(
    int descriptor, const struct termios *modes, int standard_error, const char *reset, const char *message);

/// From now on a fault restores nothing.
void cterminal_disarm_reset(void);
