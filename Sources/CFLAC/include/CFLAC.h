#pragma once

#include <FLAC/stream_decoder.h>

/// Opens libFLAC, the decoder of FLAC. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No `FLAC__` function may be called before this has returned NULL. Those that `table.c` lists are
/// linked, and no others.
const char *cflac_load(void);
