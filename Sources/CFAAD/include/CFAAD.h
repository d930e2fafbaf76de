#pragma once

// The functions of libfaad2 that are used, found with `dlopen`: only AAC needs the library, and without it
// all other formats still play. libfaad2 is under the GPL, so nothing of it is needed to build: the
// declarations below state its interface (neaacdec.h, unchanged from 2.7 to 2.11).

/// The settings of a decoder (`NeAACDecConfiguration`).
struct cfaad_configuration {
    unsigned char default_object_type;
    unsigned long default_sample_rate;
    unsigned char output_format;
    unsigned char mixes_down;
    unsigned char uses_old_adts;
    unsigned char keeps_low_rates;
};

/// The result of decoding one packet (`NeAACDecFrameInfo`).
struct cfaad_frame {
    unsigned long byte_count;
    /// The number of samples of all channels together.
    unsigned long sample_count;
    unsigned char channel_count;
    /// 0 if the packet was decoded.
    unsigned char error;
    unsigned long sample_rate;
    /// 0 if the packet has no spectral band replication.
    unsigned char sbr;
    unsigned char object_type;
    unsigned char header_type;
    unsigned char front_count, side_count, back_count, lfe_count;
    unsigned char channel_position[64];
    /// 1 if the packet has parametric stereo.
    unsigned char ps;
};

typedef void *cfaad_decoder;

/// Opens libfaad2 (see `csystem_open_library`).
const char *cfaad_load(void);

/// A decoder of packets without headers, whose samples are `float`; NULL if `configuration`, an
/// AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1), is not supported.
///
/// The output has the rate that the configuration states, or twice the rate once a packet has spectral band
/// replication.
cfaad_decoder cfaad_open(unsigned char *configuration, unsigned long byte_count);

void cfaad_close(cfaad_decoder decoder);

/// Decodes the packet at `bytes`. Returns its samples, of full scale 1, which stay valid until the next call;
/// NULL if there are none.
const float *cfaad_decode(
    cfaad_decoder decoder, struct cfaad_frame *frame, unsigned char *bytes, unsigned long byte_count);

/// Declares that the next packet does not follow the last one. The samples of the next packet are returned,
/// even if it is the first one.
void cfaad_reset(cfaad_decoder decoder);
