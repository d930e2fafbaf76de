// Not exported: libFLAC itself must go on calling its own functions of these names.
#pragma GCC visibility push(hidden)
#include "CFLAC.h"
#pragma GCC visibility pop

#include "CSystem.h"

#define FUNCTIONS(X) \
    X(FLAC__StreamDecoder *, FLAC__stream_decoder_new, (void), ()) \
    X(void, FLAC__stream_decoder_delete, (FLAC__StreamDecoder *d), (d)) \
    X(FLAC__bool, FLAC__stream_decoder_set_md5_checking, (FLAC__StreamDecoder *d, FLAC__bool value), (d, value)) \
    X(FLAC__StreamDecoderInitStatus, FLAC__stream_decoder_init_stream, \
      (FLAC__StreamDecoder *d, FLAC__StreamDecoderReadCallback read, FLAC__StreamDecoderSeekCallback seek, \
       FLAC__StreamDecoderTellCallback tell, FLAC__StreamDecoderLengthCallback length, \
       FLAC__StreamDecoderEofCallback eof, FLAC__StreamDecoderWriteCallback write, \
       FLAC__StreamDecoderMetadataCallback metadata, FLAC__StreamDecoderErrorCallback error, void *client), \
      (d, read, seek, tell, length, eof, write, metadata, error, client)) \
    X(FLAC__bool, FLAC__stream_decoder_process_until_end_of_metadata, (FLAC__StreamDecoder *d), (d)) \
    X(FLAC__bool, FLAC__stream_decoder_process_single, (FLAC__StreamDecoder *d), (d)) \
    X(FLAC__StreamDecoderState, FLAC__stream_decoder_get_state, (const FLAC__StreamDecoder *d), (d)) \
    X(FLAC__bool, FLAC__stream_decoder_flush, (FLAC__StreamDecoder *d), (d)) \
    X(FLAC__bool, FLAC__stream_decoder_finish, (FLAC__StreamDecoder *d), (d))

FUNCTIONS(CSYSTEM_FORWARD)

const char *cflac_load(void) {
    const struct csystem_function functions[] = {FUNCTIONS(CSYSTEM_SLOT)};
    // The sonames of libFLAC 1.5 and 1.4. These functions and their structures are the same in both.
    const unsigned long count = sizeof functions / sizeof *functions;
    if (csystem_open_library("libFLAC.so.14", functions, count) == NULL) return NULL;
    return csystem_open_library("libFLAC.so.12", functions, count);
}
