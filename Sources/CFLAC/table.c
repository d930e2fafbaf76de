#include "CFLAC.h"
#include "CSystem.h"

#include <stddef.h>

struct cflac_functions cflac_functions;

const char *cflac_load(void) {
    const struct csystem_function functions[] = {
        {"FLAC__stream_decoder_new", (void **)&cflac_functions.create},
        {"FLAC__stream_decoder_delete", (void **)&cflac_functions.destroy},
        {"FLAC__stream_decoder_set_md5_checking", (void **)&cflac_functions.set_md5_checking},
        {"FLAC__stream_decoder_init_stream", (void **)&cflac_functions.init_stream},
        {"FLAC__stream_decoder_process_until_end_of_metadata", (void **)&cflac_functions.process_metadata},
        {"FLAC__stream_decoder_process_single", (void **)&cflac_functions.process_single},
        {"FLAC__stream_decoder_get_state", (void **)&cflac_functions.get_state},
        {"FLAC__stream_decoder_flush", (void **)&cflac_functions.flush},
        {"FLAC__stream_decoder_finish", (void **)&cflac_functions.finish},
    };
    // The sonames of libFLAC 1.5 and 1.4. These functions and their structures are the same in both.
    const unsigned long count = sizeof functions / sizeof *functions;
    if (csystem_open_library("libFLAC.so.14", functions, count) == NULL) return NULL;
    return csystem_open_library("libFLAC.so.12", functions, count);
}
