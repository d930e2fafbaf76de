// Not exported: libpulse itself must go on calling its own functions of these names.
#pragma GCC visibility push(hidden)
#include "CPulse.h"
#pragma GCC visibility pop

#include "CSystem.h"

#define FUNCTIONS(X) \
    X(int, pa_context_connect, \
      (pa_context *c, const char *server, pa_context_flags_t flags, const pa_spawn_api *api), \
      (c, server, flags, api)) \
    X(void, pa_context_disconnect, (pa_context *c), (c)) \
    X(int, pa_context_errno, (const pa_context *c), (c)) \
    X(pa_operation *, pa_context_get_sink_input_info, \
      (pa_context *c, uint32_t idx, pa_sink_input_info_cb_t cb, void *userdata), \
      (c, idx, cb, userdata)) \
    X(pa_operation *, pa_context_get_sink_info_list, (pa_context *c, pa_sink_info_cb_t cb, void *userdata), \
      (c, cb, userdata)) \
    X(pa_context_state_t, pa_context_get_state, (const pa_context *c), (c)) \
    X(pa_operation *, pa_context_move_sink_input_by_name, \
      (pa_context *c, uint32_t idx, const char *sink_name, pa_context_success_cb_t cb, void *userdata), \
      (c, idx, sink_name, cb, userdata)) \
    X(pa_context *, pa_context_new_with_proplist, \
      (pa_mainloop_api *mainloop, const char *name, const pa_proplist *proplist), \
      (mainloop, name, proplist)) \
    X(pa_operation *, pa_context_set_sink_input_mute, \
      (pa_context *c, uint32_t idx, int mute, pa_context_success_cb_t cb, void *userdata), \
      (c, idx, mute, cb, userdata)) \
    X(pa_operation *, pa_context_set_sink_input_volume, \
      (pa_context *c, uint32_t idx, const pa_cvolume *volume, pa_context_success_cb_t cb, void *userdata), \
      (c, idx, volume, cb, userdata)) \
    X(void, pa_context_set_state_callback, (pa_context *c, pa_context_notify_cb_t cb, void *userdata), \
      (c, cb, userdata)) \
    X(void, pa_context_set_subscribe_callback, (pa_context *c, pa_context_subscribe_cb_t cb, void *userdata), \
      (c, cb, userdata)) \
    X(pa_operation *, pa_context_subscribe, \
      (pa_context *c, pa_subscription_mask_t m, pa_context_success_cb_t cb, void *userdata), \
      (c, m, cb, userdata)) \
    X(void, pa_context_unref, (pa_context *c), (c)) \
    X(pa_volume_t, pa_cvolume_avg, (const pa_cvolume *a), (a)) \
    X(pa_cvolume *, pa_cvolume_set, (pa_cvolume *a, unsigned channels, pa_volume_t v), (a, channels, v)) \
    X(void, pa_operation_cancel, (pa_operation *o), (o)) \
    X(pa_operation_state_t, pa_operation_get_state, (const pa_operation *o), (o)) \
    X(void, pa_operation_unref, (pa_operation *o), (o)) \
    X(void, pa_proplist_free, (pa_proplist *p), (p)) \
    X(pa_proplist *, pa_proplist_new, (void), ()) \
    X(int, pa_proplist_sets, (pa_proplist *p, const char *key, const char *value), (p, key, value)) \
    X(pa_usec_t, pa_rtclock_now, (void), ()) \
    X(int, pa_stream_begin_write, (pa_stream *p, void **data, size_t *nbytes), (p, data, nbytes)) \
    X(int, pa_stream_cancel_write, (pa_stream *p), (p)) \
    X(int, pa_stream_connect_playback, \
      (pa_stream *s, const char *dev, const pa_buffer_attr *attr, pa_stream_flags_t flags, \
       const pa_cvolume *volume, pa_stream *sync_stream), \
      (s, dev, attr, flags, volume, sync_stream)) \
    X(pa_operation *, pa_stream_cork, (pa_stream *s, int b, pa_stream_success_cb_t cb, void *userdata), \
      (s, b, cb, userdata)) \
    X(int, pa_stream_disconnect, (pa_stream *s), (s)) \
    X(pa_operation *, pa_stream_drain, (pa_stream *s, pa_stream_success_cb_t cb, void *userdata), \
      (s, cb, userdata)) \
    X(pa_operation *, pa_stream_flush, (pa_stream *s, pa_stream_success_cb_t cb, void *userdata), \
      (s, cb, userdata)) \
    X(const char *, pa_stream_get_device_name, (const pa_stream *s), (s)) \
    X(uint32_t, pa_stream_get_index, (const pa_stream *s), (s)) \
    X(pa_stream_state_t, pa_stream_get_state, (const pa_stream *p), (p)) \
    X(const pa_timing_info *, pa_stream_get_timing_info, (pa_stream *s), (s)) \
    X(int, pa_stream_is_suspended, (const pa_stream *s), (s)) \
    X(pa_stream *, pa_stream_new_with_proplist, \
      (pa_context *c, const char *name, const pa_sample_spec *ss, const pa_channel_map *map, pa_proplist *p), \
      (c, name, ss, map, p)) \
    X(pa_operation *, pa_stream_proplist_update, \
      (pa_stream *s, pa_update_mode_t mode, pa_proplist *p, pa_stream_success_cb_t cb, void *userdata), \
      (s, mode, p, cb, userdata)) \
    X(void, pa_stream_set_event_callback, (pa_stream *p, pa_stream_event_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_latency_update_callback, (pa_stream *p, pa_stream_notify_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_moved_callback, (pa_stream *p, pa_stream_notify_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_started_callback, (pa_stream *p, pa_stream_notify_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_state_callback, (pa_stream *s, pa_stream_notify_cb_t cb, void *userdata), \
      (s, cb, userdata)) \
    X(void, pa_stream_set_suspended_callback, (pa_stream *p, pa_stream_notify_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_underflow_callback, (pa_stream *p, pa_stream_notify_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_set_write_callback, (pa_stream *p, pa_stream_request_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(void, pa_stream_unref, (pa_stream *s), (s)) \
    X(pa_operation *, pa_stream_update_timing_info, (pa_stream *p, pa_stream_success_cb_t cb, void *userdata), \
      (p, cb, userdata)) \
    X(size_t, pa_stream_writable_size, (const pa_stream *p), (p)) \
    X(int, pa_stream_write, \
      (pa_stream *p, const void *data, size_t nbytes, pa_free_cb_t free_cb, int64_t offset, pa_seek_mode_t seek), \
      (p, data, nbytes, free_cb, offset, seek)) \
    X(const char *, pa_strerror, (int error), (error)) \
    X(void, pa_threaded_mainloop_free, (pa_threaded_mainloop *m), (m)) \
    X(pa_mainloop_api *, pa_threaded_mainloop_get_api, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_lock, (pa_threaded_mainloop *m), (m)) \
    X(pa_threaded_mainloop *, pa_threaded_mainloop_new, (void), ()) \
    X(void, pa_threaded_mainloop_set_name, (pa_threaded_mainloop *m, const char *name), (m, name)) \
    X(int, pa_threaded_mainloop_start, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_stop, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_unlock, (pa_threaded_mainloop *m), (m))

FUNCTIONS(CSYSTEM_FORWARD)

const char *cpulse_load(void) {
    const struct csystem_function functions[] = {FUNCTIONS(CSYSTEM_SLOT)};
    // The soname's 0 is libpulse's promise that every later version has the same interface.
    return csystem_open_library("libpulse.so.0", functions, sizeof functions / sizeof *functions);
}
