// TOML by toml++, as a walk over the values of a document.
//
// The library is C++; this header is C, so that Swift needs no C++ interoperability, and nothing of the
// library's types crosses it.
#ifndef CTOML_H
#define CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a value is.
enum ctoml_kind {
    ctoml_string = 0,
    ctoml_integer = 1,
    ctoml_float = 2,
    ctoml_boolean = 3,
    /// A date or a time; its text is not given.
    ctoml_date = 4,
    /// A table without a value in it, or an array without one.
    ctoml_empty = 5,
};

/// One value: its path, the names from the root on, each ended by a zero byte, an array's places as numbers from 0;
/// its text, for a number as the library writes it and for a boolean `true` or `false`; the line where it stands,
/// from 1. Names and text are UTF-8 and live for the call.
typedef void (*ctoml_visit)(void *context, const char *path, size_t path_length, int32_t depth, int32_t kind,
                            const char *text, size_t text_length, uint32_t line);

/// Why a document is none: a sentence part, and the line, from 1.
typedef void (*ctoml_refuse)(void *context, const char *reason, size_t length, uint32_t line);

/// Parses `length` bytes and visits every value in the order of the document's lines; calls `refuse` once, and visits
/// nothing, where they are no TOML. Returns whether they are.
int32_t ctoml_parse(const char *bytes, size_t length, void *context, ctoml_visit visit, ctoml_refuse refuse);

#ifdef __cplusplus
}
#endif

#endif
