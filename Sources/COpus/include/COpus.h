#pragma once

#include <opus/opus_multistream.h>

/// Opens libopus, the decoder of Opus (see `csystem_open_library`).
const char *copus_load(void);

/// `opus_multistream_decoder_ctl`, which Swift cannot call, with `OPUS_SET_GAIN` (in 1/256 dB).
int copus_set_gain(OpusMSDecoder *decoder, int gain);

/// `opus_multistream_decoder_ctl` with `OPUS_RESET_STATE`.
int copus_reset(OpusMSDecoder *decoder);
