internal import CCurl
internal import Media

/// Owns one libcurl easy handle with its header list and what its callbacks need.
///
/// Not `Sendable`: it lives and dies on the curl thread.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    let transfer: Transfer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var okayAliases: UnsafeMutablePointer<curl_slist>?
    private let context: Unmanaged<CallbackContext>

    /// Nil when memory ran out.
    init?(_ transfer: Transfer, configuration: HTTPConfiguration) {
        guard let pointer = ccurl_easy_init() else { return nil }
        self.pointer = pointer
        self.transfer = transfer
        // Released in `deinit`, after libcurl has forgotten the pointer.
        context = Unmanaged.passRetained(CallbackContext(transfer, easy: pointer))
        setCallbacks()
        setConnectionOptions(configuration)
        guard setRequest(transfer.request, configuration) else { return nil }
    }

    deinit {
        ccurl_easy_cleanup(pointer)
        ccurl_slist_free(headers)
        ccurl_slist_free(okayAliases)
        context.release()
    }

    /// The system's error number of the last failed connection; 0 when there was none.
    var systemError: Int32 {
        var number = 0
        ccurl_easy_get_long(pointer, CURLINFO_OS_ERRNO, &number)
        return Int32(truncatingIfNeeded: number)
    }

    /// What a proxy answered to the wish for a tunnel; 0 when none was asked for one.
    var tunnelStatus: Int {
        var status = 0
        ccurl_easy_get_long(pointer, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    private func setCallbacks() {
        ccurl_easy_set_write_callback(pointer, CallbackContext.write)
        ccurl_easy_set_pointer(pointer, CURLOPT_WRITEDATA, context.toOpaque())
        ccurl_easy_set_header_callback(pointer, CallbackContext.header)
        ccurl_easy_set_pointer(pointer, CURLOPT_HEADERDATA, context.toOpaque())
        ccurl_easy_set_prereq_callback(pointer, CallbackContext.prereq)
        ccurl_easy_set_pointer(pointer, CURLOPT_PREREQDATA, context.toOpaque())
    }

    private func setConnectionOptions(_ configuration: HTTPConfiguration) {
        let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Redirects and time-outs are ours (`RedirectState`, `Timeouts`).
            (CURLOPT_FOLLOWLOCATION, 0),
            // 0 would mean libcurl's own five minutes.
            (CURLOPT_CONNECTTIMEOUT_MS, 0x7FFF_FFFF),
            // A cancelled look-up must not hold the thread until the resolver answers.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            // Waiting to learn whether a connection will carry two transfers costs a round trip.
            (CURLOPT_PIPEWAIT, 0),
            (CURLOPT_TCP_KEEPALIVE, 1),
            // Four of libcurl's pieces for each system call.
            (CURLOPT_BUFFERSIZE, 64 * 1024),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
        ]
        for (option, value) in options { ccurl_easy_set_long(pointer, option, value) }
        if let file = configuration.certificateFile { ccurl_easy_set_text(pointer, CURLOPT_CAINFO, file) }
    }

    /// Returns whether all could be set: a request without one of these would be another request.
    private func setRequest(_ request: WireRequest, _ configuration: HTTPConfiguration) -> Bool {
        var isSet = ccurl_easy_set_text(pointer, CURLOPT_URL, request.url) == CURLE_OK
        isSet = setProtocols() && isSet
        isSet = ccurl_easy_set_text(pointer, CURLOPT_USERAGENT, configuration.userAgent) == CURLE_OK && isSet
        // Offsets only mean something in the bytes as they are stored (RFC 9110 §14.1.2 counts the encoded
        // ones), so no coding is wanted. Set by this option and not as a header, libcurl also unpacks what
        // comes packed anyway.
        isSet = ccurl_easy_set_text(pointer, CURLOPT_ACCEPT_ENCODING, "identity") == CURLE_OK && isSet
        isSet = setOkayAliases() && isSet
        // Basic only, so that it goes with the first request and costs no round trip.
        ccurl_easy_set_long(pointer, CURLOPT_HTTPAUTH, 1)
        if request.usesNetrc, let file = configuration.netrcFile {
            ccurl_easy_set_long(pointer, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            isSet = ccurl_easy_set_text(pointer, CURLOPT_NETRC_FILE, file) == CURLE_OK && isSet
        }
        if let credentials = request.credentials {
            isSet = ccurl_easy_set_text(pointer, CURLOPT_USERNAME, credentials.user) == CURLE_OK && isSet
            isSet = ccurl_easy_set_text(pointer, CURLOPT_PASSWORD, credentials.password) == CURLE_OK && isSet
        }
        for line in request.headerLines {
            guard let longer = ccurl_slist_append(headers, line) else { return false }
            headers = longer
        }
        return ccurl_easy_set_pointer(pointer, CURLOPT_HTTPHEADER, headers) == CURLE_OK && isSet
    }

    /// SHOUTcast begins its answers with `ICY`; which status follows is for `ResponseHeadParser` to see.
    private func setOkayAliases() -> Bool {
        okayAliases = ccurl_slist_append(nil, "ICY ")
        return okayAliases != nil
            && ccurl_easy_set_pointer(pointer, CURLOPT_HTTP200ALIASES, okayAliases) == CURLE_OK
    }

    /// The text option came with 7.85; before it there is only the set of bits.
    private func setProtocols() -> Bool {
        let httpAndHTTPS = 1 | 2
        return ccurl_easy_set_text(pointer, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK
            || ccurl_easy_set_long(pointer, CURLoption(rawValue: 181), httpAndHTTPS) == CURLE_OK
    }
}
