#include "CFAAD.h"
#include "CSystem.h"

#include <stddef.h>

static struct {
    cfaad_decoder (*open)(void);
    struct cfaad_configuration *(*configuration)(cfaad_decoder);
    unsigned char (*configure)(cfaad_decoder, struct cfaad_configuration *);
    char (*init)(cfaad_decoder, unsigned char *, unsigned long, unsigned long *, unsigned char *);
    void *(*decode)(cfaad_decoder, struct cfaad_frame *, unsigned char *, unsigned long);
    void (*reset)(cfaad_decoder, long);
    void (*close)(cfaad_decoder);
} library;

enum { float_samples = 4 };

const char *cfaad_load(void) {
    const struct csystem_function functions[] = {
        {"NeAACDecOpen", (void **)&library.open},
        {"NeAACDecGetCurrentConfiguration", (void **)&library.configuration},
        {"NeAACDecSetConfiguration", (void **)&library.configure},
        {"NeAACDecInit2", (void **)&library.init},
        {"NeAACDecDecode", (void **)&library.decode},
        {"NeAACDecPostSeekReset", (void **)&library.reset},
        {"NeAACDecClose", (void **)&library.close},
    };
    return csystem_open_library("libfaad.so.2", functions, sizeof functions / sizeof *functions);
}

cfaad_decoder cfaad_open(unsigned char *configuration, unsigned long byte_count) {
    cfaad_decoder decoder = library.open();
    if (decoder == NULL) return NULL;
    struct cfaad_configuration *settings = library.configuration(decoder);
    settings->output_format = float_samples;
    settings->mixes_down = 0;
    settings->keeps_low_rates = 1;
    unsigned long rate;
    unsigned char channel_count;
    if (library.configure(decoder, settings) == 0 ||
        library.init(decoder, configuration, byte_count, &rate, &channel_count) < 0) {
        library.close(decoder);
        return NULL;
    }
    cfaad_reset(decoder);
    return decoder;
}

void cfaad_close(cfaad_decoder decoder) { library.close(decoder); }

const float *cfaad_decode(
    cfaad_decoder decoder, struct cfaad_frame *frame, unsigned char *bytes, unsigned long byte_count) {
    return library.decode(decoder, frame, bytes, byte_count);
}

// libfaad2 drops the samples of the frame with the number 0, the first one.
void cfaad_reset(cfaad_decoder decoder) { library.reset(decoder, 1); }
