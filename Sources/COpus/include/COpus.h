#pragma once

#include <opus/opus_multistream.h>

/// Opens libopus, the decoder of Opus. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No other function may be called before this has returned NULL. Those that `table.c` lists are
/// linked, and no others.
const char *copus_load(void);

/// `opus_multistream_decoder_ctl`, which Swift cannot call, with `OPUS_SET_GAIN` (in 1/256 dB).
int copus_set_gain(OpusMSDecoder *decoder, int gain);

/// `opus_multistream_decoder_ctl` with `OPUS_RESET_STATE`.
int copus_reset(OpusMSDecoder *decoder);
