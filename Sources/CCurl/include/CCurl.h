#pragma once

#include <curl/curl.h>

/// Opens and initialises libcurl (see `csystem_open_library`): it and its thirty dependencies cost
/// milliseconds and megabytes that a cached song never needs.
const char *ccurl_load(void);

/// The functions that take a value of any type, which Swift cannot call.
struct ccurl_variadic_functions {
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
    CURLMcode (*multi_setopt)(CURLM *handle, CURLMoption option, ...);
};

extern struct ccurl_variadic_functions ccurl_variadic_functions;

static inline CURLcode ccurl_easy_set_long(CURL *handle, CURLoption option, long value) {
    return ccurl_variadic_functions.easy_setopt(handle, option, value);
}

/// libcurl copies the text.
static inline CURLcode ccurl_easy_set_text(CURL *handle, CURLoption option, const char *value) {
    return ccurl_variadic_functions.easy_setopt(handle, option, value);
}

/// For data pointers of callbacks and for lists, which libcurl does not copy.
static inline CURLcode ccurl_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
    return ccurl_variadic_functions.easy_setopt(handle, option, value);
}

/// Sets `CURLOPT_WRITEFUNCTION` or `CURLOPT_HEADERFUNCTION`.
static inline CURLcode ccurl_easy_set_data_callback(CURL *handle, CURLoption option, curl_write_callback callback) {
    return ccurl_variadic_functions.easy_setopt(handle, option, callback);
}

/// Called for each new socket, before it connects.
static inline CURLcode ccurl_easy_set_sockopt_callback(CURL *handle, curl_sockopt_callback callback) {
    return ccurl_variadic_functions.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, callback);
}

/// Called when a connection is established, new or reused, before the request is sent.
static inline CURLcode ccurl_easy_set_prereq_callback(CURL *handle, curl_prereq_callback callback) {
    return ccurl_variadic_functions.easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return ccurl_variadic_functions.easy_getinfo(handle, info, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return ccurl_variadic_functions.multi_setopt(multi, option, value);
}

/// Takes one finished transfer off the list and returns its handle, or NULL if there is none.
///
/// `CURLMsg` has a union, and the next call invalidates it, so its two interesting fields are copied.
static inline CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}
