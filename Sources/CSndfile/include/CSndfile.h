#pragma once

#include <stdint.h>

// The functions of libsndfile that are used, found with `dlopen`: only ALAC needs the library. libpulse
// brings it along, but not its header, so table.c states its interface (sndfile.h, unchanged since 1.0.18).

/// A decoder of packets of one size and form.
///
/// libsndfile decodes files only. So it opens a file in memory with one packet, and the packet is replaced
/// before each read.
typedef struct csndfile_decoder *csndfile_decoder;

/// Opens libsndfile (see `csystem_open_library`).
const char *csndfile_load(void);

/// A decoder whose file begins with the bytes of `head`, after which the packet has `most_bytes` bytes; NULL
/// if libsndfile refuses the file.
csndfile_decoder csndfile_open(const uint8_t *head, int64_t head_byte_count, int64_t most_bytes);

void csndfile_close(csndfile_decoder decoder);

/// Decodes the packet at `bytes`. Writes up to `most_frames` frames, each sample in the upper bits of a
/// number, and returns how many it has written; 0 if the packet is too long.
int64_t csndfile_decode(
    csndfile_decoder decoder, const uint8_t *bytes, int64_t byte_count, int32_t *samples, int64_t most_frames);
