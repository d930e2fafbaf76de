#include "CSndfile.h"
#include "CSystem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What libsndfile states about an open file (`SF_INFO`).
struct description {
    int64_t frame_count;
    int sample_rate, channel_count, format, section_count, is_seekable;
};

/// The functions by which libsndfile reads a file in memory (`SF_VIRTUAL_IO`).
struct file_functions {
    int64_t (*size)(void *decoder);
    int64_t (*move)(int64_t offset, int origin, void *decoder);
    int64_t (*read)(void *target, int64_t byte_count, void *decoder);
    int64_t (*write)(const void *source, int64_t byte_count, void *decoder);
    int64_t (*position)(void *decoder);
};

static struct {
    void *(*open)(struct file_functions *, int, struct description *, void *);
    int64_t (*read)(void *, int *, int64_t);
    int64_t (*seek)(void *, int64_t, int);
    int (*close)(void *);
} library;

enum { for_reading = 0x10 };

struct csndfile_decoder {
    void *file;
    int64_t position;
    int64_t head_byte_count;
    int64_t byte_count;
    /// The file: its head, and the packet with zeros behind it.
    uint8_t bytes[];
};

const char *csndfile_load(void) {
    const struct csystem_function functions[] = {
        {"sf_open_virtual", (void **)&library.open},
        {"sf_readf_int", (void **)&library.read},
        {"sf_seek", (void **)&library.seek},
        {"sf_close", (void **)&library.close},
    };
    return csystem_open_library("libsndfile.so.1", functions, sizeof functions / sizeof *functions);
}

static int64_t size_of_file(void *context) {
    csndfile_decoder decoder = context;
    return decoder->byte_count;
}

static int64_t position_in_file(void *context) {
    csndfile_decoder decoder = context;
    return decoder->position;
}

static int64_t move_in_file(int64_t offset, int origin, void *context) {
    csndfile_decoder decoder = context;
    int64_t base = origin == SEEK_CUR ? decoder->position : origin == SEEK_END ? decoder->byte_count : 0;
    if (offset < -base || offset > decoder->byte_count - base) return -1;
    return decoder->position = base + offset;
}

static int64_t read_file(void *target, int64_t byte_count, void *context) {
    csndfile_decoder decoder = context;
    int64_t left = decoder->byte_count - decoder->position;
    if (byte_count > left) byte_count = left;
    if (byte_count <= 0) return 0;
    memcpy(target, decoder->bytes + decoder->position, byte_count);
    decoder->position += byte_count;
    return byte_count;
}

csndfile_decoder csndfile_open(const uint8_t *head, int64_t head_byte_count, int64_t most_bytes) {
    csndfile_decoder decoder = calloc(1, sizeof *decoder + head_byte_count + most_bytes);
    if (decoder == NULL) return NULL;
    decoder->head_byte_count = head_byte_count;
    decoder->byte_count = head_byte_count + most_bytes;
    memcpy(decoder->bytes, head, head_byte_count);
    struct file_functions functions = {
        .size = size_of_file, .move = move_in_file, .read = read_file, .position = position_in_file};
    struct description description = {0};
    decoder->file = library.open(&functions, for_reading, &description, decoder);
    if (decoder->file != NULL) return decoder;
    free(decoder);
    return NULL;
}

void csndfile_close(csndfile_decoder decoder) {
    library.close(decoder->file);
    free(decoder);
}

int64_t csndfile_decode(
    csndfile_decoder decoder, const uint8_t *bytes, int64_t byte_count, int32_t *samples, int64_t most_frames) {
    int64_t most_bytes = decoder->byte_count - decoder->head_byte_count;
    if (byte_count > most_bytes) return 0;
    uint8_t *packet = decoder->bytes + decoder->head_byte_count;
    memcpy(packet, bytes, byte_count);
    memset(packet + byte_count, 0, most_bytes - byte_count);
    if (library.seek(decoder->file, 0, SEEK_SET) != 0) return 0;
    return library.read(decoder->file, samples, most_frames);
}
