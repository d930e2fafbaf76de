#pragma once

#include <vorbis/codec.h>

/// Opens libvorbis, the decoder of Vorbis. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No `vorbis_` function may be called before this has returned NULL. Those that `table.c` lists are
/// linked, and no others.
const char *cvorbis_load(void);
