#pragma once

#include <FLAC/stream_decoder.h>

/// Opens libFLAC, the decoder of FLAC (see `csystem_open_library`).
const char *cflac_load(void);
