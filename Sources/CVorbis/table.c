// Not exported: libvorbis itself must go on calling its own functions of these names.
#pragma GCC visibility push(hidden)
#include "CVorbis.h"
#pragma GCC visibility pop

#include "CSystem.h"

#define FUNCTIONS(X) \
    X(int, vorbis_block_clear, (vorbis_block *vb), (vb)) \
    X(int, vorbis_block_init, (vorbis_dsp_state *v, vorbis_block *vb), (v, vb)) \
    X(void, vorbis_comment_clear, (vorbis_comment *vc), (vc)) \
    X(void, vorbis_comment_init, (vorbis_comment *vc), (vc)) \
    X(void, vorbis_dsp_clear, (vorbis_dsp_state *v), (v)) \
    X(void, vorbis_info_clear, (vorbis_info *vi), (vi)) \
    X(void, vorbis_info_init, (vorbis_info *vi), (vi)) \
    X(long, vorbis_packet_blocksize, (vorbis_info *vi, ogg_packet *op), (vi, op)) \
    X(int, vorbis_synthesis, (vorbis_block *vb, ogg_packet *op), (vb, op)) \
    X(int, vorbis_synthesis_blockin, (vorbis_dsp_state *v, vorbis_block *vb), (v, vb)) \
    X(int, vorbis_synthesis_headerin, (vorbis_info *vi, vorbis_comment *vc, ogg_packet *op), (vi, vc, op)) \
    X(int, vorbis_synthesis_init, (vorbis_dsp_state *v, vorbis_info *vi), (v, vi)) \
    X(int, vorbis_synthesis_pcmout, (vorbis_dsp_state *v, float ***pcm), (v, pcm)) \
    X(int, vorbis_synthesis_read, (vorbis_dsp_state *v, int samples), (v, samples)) \
    X(int, vorbis_synthesis_restart, (vorbis_dsp_state *v), (v))

FUNCTIONS(CSYSTEM_FORWARD)

const char *cvorbis_load(void) {
    const struct csystem_function functions[] = {FUNCTIONS(CSYSTEM_SLOT)};
    return csystem_open_library("libvorbis.so.0", functions, sizeof functions / sizeof *functions);
}
