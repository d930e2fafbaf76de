import Glibc

/// One connection of a client. Used by one task at a time.
final class StreamSocket: Sendable {
    /// How much the kernel takes before it wants the client to read: what was sent and what a
    /// client got differ by no more than this and the client's own buffer.
    private static let sendBuffer: Int32 = 256 * 1024

    private let descriptor: Int32

    /// Takes over a non-blocking `descriptor`.
    init(takingOver descriptor: Int32) {
        self.descriptor = descriptor
        var size = Self.sendBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { Glibc.close(descriptor) }

    /// Whether the client has closed or reset its end, and everything it sent was read.
    ///
    /// A client that only shuts down its sending half looks the same; none of ours does.
    var clientHasLeft: Bool {
        var byte: UInt8 = 0
        let result = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return result == 0 || (result < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// The next bytes, at most `count`; nil at the end.
    func read(atMost count: Int) async throws -> [UInt8]? {
        while true {
            try Task.checkCancellation()
            var failure: Int32 = 0
            var isAtEnd = false
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let result = recv(descriptor, buffer.baseAddress, count, 0)
                filled = max(0, result)
                isAtEnd = result == 0
                failure = result < 0 ? errno : 0
            }
            if isAtEnd { return nil }
            switch failure {
            case 0: return bytes
            case EAGAIN: try await SocketWaiting.untilReadable(descriptor)
            case EINTR: continue
            default: throw ClientLeft()
            }
        }
    }

    /// Hands over what the kernel takes at once, without blocking and without SIGPIPE.
    func trySend(_ bytes: ArraySlice<UInt8>) -> RequestLog.Sending {
        let (count, code) = bytes.withUnsafeBytes { buffer in
            let count = send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            return (count, errno)
        }
        if count >= 0 { return .sent(count) }
        return code == EAGAIN || code == EINTR ? .wouldBlock : .clientLeft
    }

    /// Sends all of `bytes`.
    func write(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch trySend(rest) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await waitUntilWritable()
            case .clientLeft: throw ClientLeft()
            }
        }
    }

    func waitUntilWritable() async throws {
        try Task.checkCancellation()
        do {
            try await SocketWaiting.untilWritable(descriptor)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ClientLeft()
        }
    }

    /// Returns when the client has left, or the task is cancelled. Bytes that it sends meanwhile stay
    /// unread, and end the watch without a result: then only the next write can tell.
    func waitUntilClientLeaves() async -> Bool {
        while !Task.isCancelled {
            if clientHasLeft { return true }
            do { try await SocketWaiting.untilReadable(descriptor) } catch { return clientHasLeft }
            if !clientHasLeft { return false }
        }
        return false
    }

    /// Ends both directions; what was sent still arrives.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
