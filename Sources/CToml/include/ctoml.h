// Parses TOML with toml++, and visits the values of a document.
//
// toml++ is C++. This header is C, so that Swift needs no C++ interoperability; no type of toml++ appears in
// it.
#ifndef CTOML_H
#define CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The type of a value.
enum ctoml_kind {
    ctoml_string = 0,
    ctoml_integer = 1,
    ctoml_float = 2,
    ctoml_boolean = 3,
    /// A date or a time; it comes without its text.
    ctoml_date = 4,
    /// An empty table or array.
    ctoml_empty = 5,
};

/// Receives one value.
///
/// `path` holds the names from the root to the value, each ended by a zero byte; an element of an array has
/// its index, from 0. The text of a number is as toml++ writes it, that of a boolean `true` or `false`.
/// `line` counts from 1. Path and text are UTF-8 and valid during the call only.
typedef void (*ctoml_visit)(void *context, const char *path, size_t path_length, int32_t depth, int32_t kind,
                            const char *text, size_t text_length, uint32_t line);

/// Receives a syntax error: the reason as part of a sentence, and the line, from 1.
typedef void (*ctoml_refuse)(void *context, const char *reason, size_t length, uint32_t line);

/// Parses `length` bytes and visits every value in the order of the lines.
///
/// Returns 1. For bytes that are not TOML it visits nothing, calls `refuse` once and returns 0.
int32_t ctoml_parse(const char *bytes, size_t length, void *context, ctoml_visit visit, ctoml_refuse refuse);

#ifdef __cplusplus
}
#endif

#endif
