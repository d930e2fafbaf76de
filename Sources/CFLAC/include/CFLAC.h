#pragma once

#include <FLAC/stream_decoder.h>

// The functions of libFLAC that are used, found with `dlopen`: only FLAC needs the library, and without it
// all other formats still play. Nothing here links libFLAC; its own functions in <FLAC/stream_decoder.h> must
// not be called.

/// Pointers into libFLAC, all of them set or none.
struct cflac_functions {
    __typeof__(FLAC__stream_decoder_new) *create;
    __typeof__(FLAC__stream_decoder_delete) *destroy;
    __typeof__(FLAC__stream_decoder_set_md5_checking) *set_md5_checking;
    __typeof__(FLAC__stream_decoder_init_stream) *init_stream;
    __typeof__(FLAC__stream_decoder_process_until_end_of_metadata) *process_metadata;
    __typeof__(FLAC__stream_decoder_process_single) *process_single;
    __typeof__(FLAC__stream_decoder_get_state) *get_state;
    __typeof__(FLAC__stream_decoder_flush) *flush;
    __typeof__(FLAC__stream_decoder_finish) *finish;
};

extern struct cflac_functions cflac_functions;

/// Opens libFLAC. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No other function here may be called before this has returned NULL.
const char *cflac_load(void);

/// NULL if memory ran out.
static inline FLAC__StreamDecoder *cflac_create(void) { return cflac_functions.create(); }

static inline void cflac_destroy(FLAC__StreamDecoder *decoder) { cflac_functions.destroy(decoder); }

/// Lets `cflac_finish` compare the samples with the stated MD5. To be called before `cflac_init`.
static inline void cflac_check_md5(FLAC__StreamDecoder *decoder) { cflac_functions.set_md5_checking(decoder, 1); }

/// The decoder pulls bytes through `read`, and cannot seek.
static inline int cflac_init(
    FLAC__StreamDecoder *decoder, FLAC__StreamDecoderReadCallback read, FLAC__StreamDecoderWriteCallback write,
    FLAC__StreamDecoderErrorCallback error, void *client) {
    return cflac_functions.init_stream(decoder, read, NULL, NULL, NULL, NULL, write, NULL, error, client) ==
           FLAC__STREAM_DECODER_INIT_STATUS_OK;
}

static inline int cflac_process_metadata(FLAC__StreamDecoder *decoder) {
    return cflac_functions.process_metadata(decoder);
}

/// Decodes one frame; 0 if that failed, or if `read` had too few bytes.
static inline int cflac_process_single(FLAC__StreamDecoder *decoder) {
    return cflac_functions.process_single(decoder);
}

/// Not 0 if the decoder is ready for the next frame.
static inline int cflac_is_ready(FLAC__StreamDecoder *decoder) {
    FLAC__StreamDecoderState state = cflac_functions.get_state(decoder);
    return state == FLAC__STREAM_DECODER_SEARCH_FOR_FRAME_SYNC || state == FLAC__STREAM_DECODER_READ_FRAME;
}

/// Drops all bytes that were read but not decoded, and ends the comparison with the MD5.
static inline int cflac_flush(FLAC__StreamDecoder *decoder) { return cflac_functions.flush(decoder); }

/// 0 if the samples do not have the stated MD5.
static inline int cflac_finish(FLAC__StreamDecoder *decoder) { return cflac_functions.finish(decoder); }
