// Not exported: libopus itself must go on calling its own functions of these names.
#pragma GCC visibility push(hidden)
#include "COpus.h"
#pragma GCC visibility pop

#include "CSystem.h"

#define FUNCTIONS(X) \
    X(OpusMSDecoder *, opus_multistream_decoder_create, \
      (opus_int32 rate, int channels, int streams, int coupled, const unsigned char *mapping, int *error), \
      (rate, channels, streams, coupled, mapping, error)) \
    X(int, opus_multistream_decode_float, \
      (OpusMSDecoder *st, const unsigned char *data, opus_int32 len, float *pcm, int frames, int fec), \
      (st, data, len, pcm, frames, fec)) \
    X(void, opus_multistream_decoder_destroy, (OpusMSDecoder *st), (st))

FUNCTIONS(CSYSTEM_FORWARD)

static __typeof__(opus_multistream_decoder_ctl) *loaded_ctl;

int copus_set_gain(OpusMSDecoder *decoder, int gain) { return loaded_ctl(decoder, OPUS_SET_GAIN(gain)); }

int copus_reset(OpusMSDecoder *decoder) { return loaded_ctl(decoder, OPUS_RESET_STATE); }

const char *copus_load(void) {
    const struct csystem_function functions[] = {
        FUNCTIONS(CSYSTEM_SLOT) {"opus_multistream_decoder_ctl", (void **)&loaded_ctl},
    };
    return csystem_open_library("libopus.so.0", functions, sizeof functions / sizeof *functions);
}
