#pragma once

#include <curl/curl.h>

// The functions of libcurl that are used, found with `dlopen`: libcurl and its thirty dependencies cost
// milliseconds and megabytes that a cached song never needs, and without it local files still play. Nothing
// here links libcurl; its own functions in <curl/curl.h> must not be called.

/// Pointers into libcurl, all of them set or none.
struct ccurl_functions {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_pause) *easy_pause;
    __typeof__(curl_easy_strerror) *easy_strerror;
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_wakeup) *multi_wakeup;
    __typeof__(curl_multi_info_read) *multi_info_read;
    CURLMcode (*multi_setopt)(CURLM *handle, CURLMoption option, ...);
};

extern struct ccurl_functions ccurl_functions;

/// Opens and initialises libcurl. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No other function here may be called before this has returned NULL.
const char *ccurl_load(void);

static inline CURL *ccurl_easy_init(void) { return ccurl_functions.easy_init(); }

static inline void ccurl_easy_cleanup(CURL *handle) { ccurl_functions.easy_cleanup(handle); }

static inline const char *ccurl_easy_strerror(CURLcode code) { return ccurl_functions.easy_strerror(code); }

/// Resumes a transfer that its write callback has paused; may call that callback.
static inline CURLcode ccurl_easy_resume(CURL *handle) {
    return ccurl_functions.easy_pause(handle, CURLPAUSE_CONT);
}

static inline CURLcode ccurl_easy_set_long(CURL *handle, CURLoption option, long value) {
    return ccurl_functions.easy_setopt(handle, option, value);
}

/// libcurl copies the text.
static inline CURLcode ccurl_easy_set_text(CURL *handle, CURLoption option, const char *value) {
    return ccurl_functions.easy_setopt(handle, option, value);
}

/// For data pointers of callbacks and for lists, which libcurl does not copy.
static inline CURLcode ccurl_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
    return ccurl_functions.easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_write_callback(CURL *handle, curl_write_callback callback) {
    return ccurl_functions.easy_setopt(handle, CURLOPT_WRITEFUNCTION, callback);
}

/// The header callback has the shape of the write callback.
static inline CURLcode ccurl_easy_set_header_callback(CURL *handle, curl_write_callback callback) {
    return ccurl_functions.easy_setopt(handle, CURLOPT_HEADERFUNCTION, callback);
}

/// Called for each new socket, before it connects.
static inline CURLcode ccurl_easy_set_sockopt_callback(CURL *handle, curl_sockopt_callback callback) {
    return ccurl_functions.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, callback);
}

/// Called when a connection is established, new or reused, before the request is sent.
static inline CURLcode ccurl_easy_set_prereq_callback(CURL *handle, curl_prereq_callback callback) {
    return ccurl_functions.easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return ccurl_functions.easy_getinfo(handle, info, value);
}

/// Returns the longer list; NULL if memory ran out, and `list` is then unchanged.
static inline struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) {
    return ccurl_functions.slist_append(list, text);
}

static inline void ccurl_slist_free(struct curl_slist *list) { ccurl_functions.slist_free_all(list); }

static inline CURLM *ccurl_multi_init(void) { return ccurl_functions.multi_init(); }

static inline CURLMcode ccurl_multi_cleanup(CURLM *multi) { return ccurl_functions.multi_cleanup(multi); }

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return ccurl_functions.multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_add(CURLM *multi, CURL *handle) {
    return ccurl_functions.multi_add_handle(multi, handle);
}

static inline CURLMcode ccurl_multi_remove(CURLM *multi, CURL *handle) {
    return ccurl_functions.multi_remove_handle(multi, handle);
}

static inline CURLMcode ccurl_multi_perform(CURLM *multi, int *running) {
    return ccurl_functions.multi_perform(multi, running);
}

/// Waits for libcurl's sockets and timers, a wake-up or the time-out.
static inline CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_milliseconds) {
    return ccurl_functions.multi_poll(multi, NULL, 0, timeout_milliseconds, NULL);
}

/// Ends a `ccurl_multi_poll`. The only function here that may be called from any thread.
static inline CURLMcode ccurl_multi_wakeup(CURLM *multi) { return ccurl_functions.multi_wakeup(multi); }

/// Takes one finished transfer off the list and returns its handle, or NULL if there is none.
///
/// `CURLMsg` has a union, and the next call invalidates it, so its two interesting fields are copied.
static inline CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = ccurl_functions.multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}
