import Glibc

/// A port of the loopback address.
final class ListeningSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// Listens on 127.0.0.1; port 0 takes a free one.
    init(port: UInt16) throws(OriginFailure) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        do throws(OriginFailure) {
            self.port = try Self.listen(on: descriptor, port: port)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The next client.
    ///
    /// Descriptors are closed on exec: a child of the tests must not keep connections open.
    func accept() async throws -> StreamSocket {
        while true {
            try Task.checkCancellation()
            let client = Glibc.accept(descriptor, nil, nil)
            if client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                _ = fcntl(client, F_SETFL, O_NONBLOCK)
                return StreamSocket(takingOver: client)
            }
            switch errno {
            case EAGAIN: try await SocketWaiting.untilReadable(descriptor)
            case EINTR, ECONNABORTED: continue
            // Out of descriptors: a connection that ends frees one.
            case EMFILE, ENFILE: try await Task.sleep(for: .milliseconds(10))
            default: throw OriginFailure.last("accept")
            }
        }
    }

    private static func listen(on descriptor: Int32, port: UInt16) throws(OriginFailure) -> UInt16 {
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(descriptor, address, size) == 0 else { return "bind to port \(port)" }
                guard Glibc.listen(descriptor, SOMAXCONN) == 0 else { return "listen" }
                return getsockname(descriptor, address, &size) == 0 ? "" : "getsockname"
            }
        }
        guard status.isEmpty else { throw .last(status) }
        return UInt16(bigEndian: address.sin_port)
    }
}

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

    /// Returns `true` when the client has left, and `false` if the task is cancelled. Bytes that the client
    /// sends meanwhile stay unread and end the watch with `false`: then only the next write shows that it has
    /// left.
    func waitUntilClientLeaves() async -> Bool {
        while !Task.isCancelled {
            if clientHasLeft { return true }
            do { try await SocketWaiting.untilReadable(descriptor) } catch { return clientHasLeft }
            if !clientHasLeft { return false }
        }
        return false
    }

    /// Shuts down both directions; bytes already sent still arrive.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// The client has closed its end, or reset the connection.
struct ClientLeft: Error {}
