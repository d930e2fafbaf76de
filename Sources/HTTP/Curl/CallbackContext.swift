internal import CCurl
internal import Media

/// What libcurl's callbacks get as their pointer; only ever touched on the curl thread.
final class CallbackContext {
    private let transfer: Transfer
    /// The handle that owns this, so never longer used than it lives.
    private let easy: UnsafeMutableRawPointer
    private var parser = ResponseHeadParser()

    init(_ transfer: Transfer, easy: UnsafeMutableRawPointer) {
        self.transfer = transfer
        self.easy = easy
    }

    /// Takes body bytes. Any other number than theirs ends the transfer, or pauses it.
    static let write: curl_write_callback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        switch from(context).transfer.received(piece) {
        case .taken: return piece.count
        case .pause: return Int(CURL_WRITEFUNC_PAUSE)
        case .refused: return 0
        }
    }

    /// Takes one header line, which is not terminated by a zero.
    static let header: curl_write_callback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return from(context).append(line: line) ? line.count : 0
    }

    /// A connection stands and the request is about to be sent.
    static let prereq: curl_prereq_callback = { context, _, _, _, _ in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        from(context).transfer.connected()
        return CURL_PREREQFUNC_OK
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> CallbackContext {
        // Unretained: `EasyHandle` keeps the context for as long as libcurl may call.
        Unmanaged<CallbackContext>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Whether the connection was there before this transfer; nil when libcurl does not tell.
    private var reusedConnection: Bool? {
        var newConnections = 0
        guard ccurl_easy_get_long(easy, CURLINFO_NUM_CONNECTS, &newConnections) == CURLE_OK else {
            return nil
        }
        return newConnections == 0
    }

    /// Returns whether the transfer goes on.
    private func append(line: UnsafeRawBufferPointer) -> Bool {
        do {
            if var head = try parser.append(line: line) {
                head.reusedConnection = reusedConnection
                transfer.headReceived(head)
            }
            return true
        } catch {
            let cause: SafeText = "the server's answer has a header larger than any honest one"
            var error = MediaError(.badAnswer, transfer.request.subject, cause)
            error.isLasting = true
            transfer.failed(error)
            return false
        }
    }
}
