#pragma once

#include <vorbis/codec.h>

/// Opens libvorbis, the decoder of Vorbis (see `csystem_open_library`).
const char *cvorbis_load(void);
