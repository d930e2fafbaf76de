#pragma once
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>
#include <locale.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <wchar.h>

/// `stdscr` is a mutable C global, which Swift 6 refuses to read from any thread.
static inline WINDOW *curses_stdscr(void) { return stdscr; }

/// `COLORS` is a mutable C global too.
static inline int curses_colors(void) { return COLORS; }

/// The attributes are macros with casts, which Swift does not import.
static inline attr_t curses_bold(void) { return A_BOLD; }
static inline attr_t curses_dim(void) { return A_DIM; }
static inline attr_t curses_reverse(void) { return A_REVERSE; }

/// `cur_term` is a mutable C global as well. Frees the description that `setupterm` loaded.
static inline void curses_forget_terminal(void) { del_curterm(cur_term); }

/// `wcwidth` is an X/Open function (POSIX.1-2001) that Swift's Glibc module hides.
extern int wcwidth(wchar_t character);

/// `ioctl` is variadic, which Swift cannot call. Returns 0, or -1 if the descriptor is not a terminal.
static inline int curses_window_size(int descriptor, struct winsize *size) {
    return ioctl(descriptor, TIOCGWINSZ, size);
}
