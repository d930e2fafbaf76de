#pragma once
#include <mpg123.h>

/// Sets the parameters and flags, which Swift imports with another type than `mpg123_param2` takes.
static inline int reprise_mpg123_configure(mpg123_handle *handle, long resync_limit, int gets_whole_frames) {
    int status = mpg123_param2(handle, MPG123_ADD_FLAGS, MPG123_QUIET | MPG123_SKIP_ID3V2, 0.);
    // Else the first frame is decoded only when the next one was fed.
    if (status == MPG123_OK && gets_whole_frames)
        status = mpg123_param2(handle, MPG123_ADD_FLAGS, MPG123_NO_READAHEAD, 0.);
    if (status == MPG123_OK) status = mpg123_param2(handle, MPG123_REMOVE_FLAGS, MPG123_GAPLESS, 0.);
    if (status == MPG123_OK) status = mpg123_param2(handle, MPG123_RESYNC_LIMIT, resync_limit, 0.);
    if (status == MPG123_OK) status = mpg123_format_none(handle);
    // Rate 0 stands for every rate; mono stays mono.
    if (status == MPG123_OK)
        status = mpg123_format2(handle, 0, MPG123_MONO | MPG123_STEREO, MPG123_ENC_SIGNED_16);
    return status;
}
