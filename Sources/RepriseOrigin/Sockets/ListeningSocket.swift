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
