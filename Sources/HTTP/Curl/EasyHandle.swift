internal import CCurl
internal import Media
internal import System

/// One request to libcurl: an easy handle with its options, lists and callbacks.
///
/// Not `Sendable`: created, used and freed on the thread `http` only.
final class EasyHandle: CallbackContext {
    let pointer: UnsafeMutableRawPointer
    /// Weak, so that a transfer ends when its reader releases it.
    private(set) weak var transfer: Transfer?
    private let request: WireRequest
    /// The lines of the head, or the trailers, that are arriving.
    private var lines: [[UInt8]] = []
    /// The size of all heads and trailers so far.
    private var headBytes = 0
    /// The server's challenge for a digest login, until libcurl's answer to it has an answer.
    private var challenge: ResponseHead?
    private var isChallenged = false
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var okayAliases: UnsafeMutablePointer<curl_slist>?

    /// Returns `nil` if memory ran out, or if libcurl refused an option of the request.
    init?(_ transfer: Transfer, configuration: HTTPConfiguration) {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        self.transfer = transfer
        request = transfer.request
        setCallbacks()
        setConnectionOptions(configuration)
        guard setRequest(configuration) else { return nil }
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
        curl_slist_free_all(okayAliases)
    }

    /// The facts about the end of the transfer, as far as libcurl knows them.
    var circumstances: CurlFailure.Circumstances {
        CurlFailure.Circumstances(
            systemError: Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO) ?? 0),
            tunnelStatus: number(CURLINFO_HTTP_CONNECTCODE) ?? 0
        )
    }

    private func number(_ info: CURLINFO) -> Int? {
        var number = 0
        return ccurl_easy_get_long(pointer, info, &number) == CURLE_OK ? number : nil
    }

    // MARK: Callbacks

    private func setCallbacks() {
        // Unretained: after `deinit` libcurl has forgotten the pointer.
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_easy_set_data_callback(pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let handle = EasyHandle.from(context) else { return 0 }
            return handle.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_WRITEDATA, context)
        ccurl_easy_set_data_callback(pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let handle = EasyHandle.from(context) else { return 0 }
            // The line is not zero-terminated.
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return handle.append(line: line) ? line.count : 0
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_HEADERDATA, context)
        // A socket is made for an address of the host, so its name was looked up.
        ccurl_easy_set_sockopt_callback(pointer) { context, _, _ in
            EasyHandle.from(context)?.transfer?.lookedUp()
            return CURL_SOCKOPT_OK
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_SOCKOPTDATA, context)
        // The connection is established and the request is about to be sent.
        ccurl_easy_set_prereq_callback(pointer) { context, _, _, _, _ in
            guard let transfer = EasyHandle.from(context)?.transfer else { return CURL_PREREQFUNC_ABORT }
            transfer.connected()
            return CURL_PREREQFUNC_OK
        }
        ccurl_easy_set_pointer(pointer, CURLOPT_PREREQDATA, context)
    }

    /// Passes on a challenge that libcurl does not answer, if there is one: it is the answer.
    func deliverChallenge() {
        if let challenge { transfer?.headReceived(challenge) }
        challenge = nil
    }

    /// Accepts body bytes. Returning anything but their number pauses or ends the transfer.
    private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
        deliverChallenge()
        return switch transfer?.received(bytes) {
        case .taken: bytes.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .refused, nil: 0
        }
    }

    /// Accepts one line of a head or of the trailers, which are ignored: they cannot be relied on (RFC 9110
    /// §6.5.1). Returns `true` if the transfer continues.
    private func append(line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= ResponseHead.mostBytes, lines.count < ResponseHead.mostLines else {
            let cause: SafeText = "the server's answer has a header larger than any honest one"
            var error = MediaError(.badAnswer, request.subject, cause)
            error.isLasting = true
            transfer?.failed(error)
            return false
        }
        guard line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
            lines.append(Array(line))
            return true
        }
        let reusedConnection = number(CURLINFO_NUM_CONNECTS).map { $0 == 0 }
        let head = ResponseHead(lines: lines, reusedConnection: reusedConnection)
        lines = []
        guard let head, !head.isInterim else { return true }
        if head.status == 401, request.quirks.contains(.wantsDigest), !isChallenged {
            challenge = head
            isChallenged = true
        } else {
            challenge = nil
            transfer?.headReceived(head)
        }
        return true
    }

    // MARK: Options

    private func setConnectionOptions(_ configuration: HTTPConfiguration) {
        let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // This module handles redirects and time-outs itself (`CurlTransport`, `Timeouts`).
            (CURLOPT_FOLLOWLOCATION, 0),
            // No limit: 0 would mean libcurl's default of five minutes.
            (CURLOPT_CONNECTTIMEOUT_MS, 0x7FFF_FFFF),
            // A cancelled name look-up must not block the thread until the resolver responds.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            // No waiting: finding out if a connection can carry two transfers costs a round trip.
            (CURLOPT_PIPEWAIT, 0),
            (CURLOPT_TCP_KEEPALIVE, 1),
            // Four times libcurl's default, to make fewer system calls.
            (CURLOPT_BUFFERSIZE, 64 * 1024),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
        ]
        for (option, value) in options { ccurl_easy_set_long(pointer, option, value) }
        if let file = configuration.certificateFile { set(CURLOPT_CAINFO, file: file) }
    }

    /// Returns `false` if one of the options could not be set: the request would not be the intended one.
    private func setRequest(_ configuration: HTTPConfiguration) -> Bool {
        let texts: [(CURLoption, String?)] = [
            (CURLOPT_URL, request.url),
            (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_USERAGENT, configuration.userAgent),
            // Requests the body without a content coding, since offsets must count the bytes that are stored,
            // but ranges count encoded bytes (RFC 9110 §14.1.2). With this option instead of a header,
            // libcurl decodes a body that is encoded anyway.
            (CURLOPT_ACCEPT_ENCODING, "identity"),
            (CURLOPT_USERNAME, request.credentials?.user),
            (CURLOPT_PASSWORD, request.credentials?.password),
        ]
        for case (let option, let text?) in texts {
            guard ccurl_easy_set_text(pointer, option, text) == CURLE_OK else { return false }
        }
        let options: [(CURLoption, Int)] = [
            // Basic (1), so that credentials are sent with the first request and cost no round trip; Digest
            // (2) if asked for.
            (CURLOPT_HTTPAUTH, request.quirks.contains(.wantsDigest) ? 2 : 1),
            (CURLOPT_HTTP_CONTENT_DECODING, request.quirks.contains(.namesNoCoding) ? 0 : 1),
            (CURLOPT_IGNORE_CONTENT_LENGTH, request.quirks.contains(.deniesBody) ? 1 : 0),
        ]
        for (option, value) in options { ccurl_easy_set_long(pointer, option, value) }
        if request.usesNetrc, let file = configuration.netrcFile {
            ccurl_easy_set_long(pointer, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            guard set(CURLOPT_NETRC_FILE, file: file) else { return false }
        }
        for line in request.headerLines {
            guard let longer = curl_slist_append(headers, line) else { return false }
            headers = longer
        }
        // Accepts the responses of SHOUTcast. `ResponseHead` reads the status that follows.
        okayAliases = curl_slist_append(nil, "ICY ")
        return okayAliases != nil
            && ccurl_easy_set_pointer(pointer, CURLOPT_HTTP200ALIASES, okayAliases) == CURLE_OK
            && ccurl_easy_set_pointer(pointer, CURLOPT_HTTPHEADER, headers) == CURLE_OK
    }

    @discardableResult
    private func set(_ option: CURLoption, file: String) -> Bool {
        ccurl_easy_set_text(pointer, option, FileName.cString(file)) == CURLE_OK
    }
}
