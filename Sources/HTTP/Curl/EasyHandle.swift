internal import CCurl
internal import Media

/// One request to libcurl: an easy handle with its options, lists and callbacks.
///
/// Not `Sendable`: created, used and freed on the thread `http` only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// Weak, so that a transfer ends when its reader releases it.
    private(set) weak var transfer: Transfer?
    private let request: WireRequest
    private var parser = ResponseHeadParser()
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var okayAliases: UnsafeMutablePointer<curl_slist>?

    /// `nil` if memory ran out.
    init?(_ transfer: Transfer, configuration: HTTPConfiguration) {
        guard let pointer = ccurl_easy_init() else { return nil }
        self.pointer = pointer
        self.transfer = transfer
        request = transfer.request
        setCallbacks()
        setConnectionOptions(configuration)
        guard setRequest(configuration) else { return nil }
    }

    deinit {
        ccurl_easy_cleanup(pointer)
        ccurl_slist_free(headers)
        ccurl_slist_free(okayAliases)
    }

    /// The error for a transfer that libcurl reports as finished with `code`; `nil` if it succeeded.
    func failure(_ code: CURLcode, hasProxy: Bool) -> MediaError? {
        let circumstances = CurlFailure.Circumstances(
            systemError: Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO) ?? 0),
            tunnelStatus: number(CURLINFO_HTTP_CONNECTCODE) ?? 0,
            hasProxy: hasProxy
        )
        return CurlFailure.error(code, circumstances, request: request)
    }

    private func number(_ info: CURLINFO) -> Int? {
        var number = 0
        return ccurl_easy_get_long(pointer, info, &number) == CURLE_OK ? number : nil
    }

    // MARK: Callbacks

    private func setCallbacks() {
        // Unretained: after `deinit` libcurl has forgotten the pointer.
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_easy_set_write_callback(pointer) { bytes, size, count, context in
            guard let bytes, let handle = EasyHandle.from(context) else { return 0 }
            return handle.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_WRITEDATA, context)
        ccurl_easy_set_header_callback(pointer) { bytes, size, count, context in
            guard let bytes, let handle = EasyHandle.from(context) else { return 0 }
            // Not terminated by a zero.
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return handle.append(line: line) ? line.count : 0
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_HEADERDATA, context)
        // The connection is established and the request is about to be sent.
        ccurl_easy_set_prereq_callback(pointer) { context, _, _, _, _ in
            guard let transfer = EasyHandle.from(context)?.transfer else { return CURL_PREREQFUNC_ABORT }
            transfer.connected()
            return CURL_PREREQFUNC_OK
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_PREREQDATA, context)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
        context.map { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes body bytes. Any other result than their number pauses the transfer, or ends it.
    private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch transfer?.received(bytes) {
        case .taken: bytes.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .refused, nil: 0
        }
    }

    /// Takes one header line; returns `true` if the transfer continues.
    private func append(line: UnsafeRawBufferPointer) -> Bool {
        do {
            if var head = try parser.append(line: line) {
                head.reusedConnection = number(CURLINFO_NUM_CONNECTS).map { $0 == 0 }
                transfer?.headReceived(head)
            }
            return true
        } catch {
            let cause: SafeText = "the server's answer has a header larger than any honest one"
            var error = MediaError(.badAnswer, request.subject, cause)
            error.isLasting = true
            transfer?.failed(error)
            return false
        }
    }

    // MARK: Options

    private func setConnectionOptions(_ configuration: HTTPConfiguration) {
        let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Redirects and time-outs are ours (`RedirectState`, `Timeouts`).
            (CURLOPT_FOLLOWLOCATION, 0),
            // 0 would mean libcurl's own five minutes.
            (CURLOPT_CONNECTTIMEOUT_MS, 0x7FFF_FFFF),
            // A cancelled name look-up must not hold the thread until the resolver answers.
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
        if let file = configuration.certificateFile { set(CURLOPT_CAINFO, file) }
    }

    /// Returns `false` if one of the options could not be set: without it this would be another request.
    private func setRequest(_ configuration: HTTPConfiguration) -> Bool {
        var isSet = set(CURLOPT_URL, request.url)
        isSet = setProtocols() && isSet
        isSet = set(CURLOPT_USERAGENT, configuration.userAgent) && isSet
        // Offsets only have a meaning in the bytes as they are stored (RFC 9110 §14.1.2 counts the encoded ones), so no
        // coding is wanted. Set by this option and not as a header, libcurl also decodes a body that comes encoded
        // nevertheless.
        isSet = set(CURLOPT_ACCEPT_ENCODING, "identity") && isSet
        isSet = setOkayAliases() && isSet
        // Basic only, so that it goes with the first request and costs no round trip.
        ccurl_easy_set_long(pointer, CURLOPT_HTTPAUTH, 1)
        if request.usesNetrc, let file = configuration.netrcFile {
            ccurl_easy_set_long(pointer, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            isSet = set(CURLOPT_NETRC_FILE, file) && isSet
        }
        if let credentials = request.credentials {
            isSet = set(CURLOPT_USERNAME, credentials.user) && isSet
            isSet = set(CURLOPT_PASSWORD, credentials.password) && isSet
        }
        for line in request.headerLines {
            guard let longer = ccurl_slist_append(headers, line) else { return false }
            headers = longer
        }
        return ccurl_easy_set_pointer(pointer, CURLOPT_HTTPHEADER, headers) == CURLE_OK && isSet
    }

    @discardableResult
    private func set(_ option: CURLoption, _ text: String) -> Bool {
        ccurl_easy_set_text(pointer, option, text) == CURLE_OK
    }

    /// SHOUTcast's answers begin with `ICY`; the status that follows is read by `ResponseHeadParser`.
    private func setOkayAliases() -> Bool {
        okayAliases = ccurl_slist_append(nil, "ICY ")
        return okayAliases != nil
            && ccurl_easy_set_pointer(pointer, CURLOPT_HTTP200ALIASES, okayAliases) == CURLE_OK
    }

    /// The option that takes text came with libcurl 7.85; older versions only have the one that takes bits.
    private func setProtocols() -> Bool {
        let httpAndHTTPS = 1 | 2
        return set(CURLOPT_PROTOCOLS_STR, "http,https")
            || ccurl_easy_set_long(pointer, CURLoption(rawValue: 181), httpAndHTTPS) == CURLE_OK
    }
}
