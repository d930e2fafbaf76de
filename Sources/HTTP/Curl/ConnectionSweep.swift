internal import CCurl

/// A request that is never sent: looking for a connection for it, libcurl closes those that have been idle for
/// longer than `CURLOPT_MAXAGE_CONN`, whatever host they lead to. libcurl has no call that does only that.
///
/// Not `Sendable`: it lives and dies on the curl thread.
final class ConnectionSweep {
    let pointer: UnsafeMutableRawPointer

    /// Nil when memory ran out.
    init?(configuration: HTTPConfiguration) {
        guard let pointer = ccurl_easy_init() else { return nil }
        self.pointer = pointer
        ccurl_easy_set_long(pointer, CURLOPT_NOSIGNAL, 1)
        EasyHandle.setLongestIdle(pointer, configuration)
        // Takes no connection that there is, makes none, and asks no resolver and no proxy.
        ccurl_easy_set_long(pointer, CURLOPT_CONNECT_ONLY, 1)
        guard ccurl_easy_set_text(pointer, CURLOPT_URL, "http://127.0.0.1") == CURLE_OK,
            ccurl_easy_set_text(pointer, CURLOPT_PROXY, "") == CURLE_OK,
            ccurl_easy_forbid_sockets(pointer) == CURLE_OK
        else { return nil }
    }

    deinit { ccurl_easy_cleanup(pointer) }
}
