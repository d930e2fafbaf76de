import Glibc

/// A port of 127.0.0.1 at which a connection is neither taken nor refused: the queue of its listener is full.
final class SilentListener: Sendable {
    let port: Int
    private let listener: Int32
    private let queued: [Int32]

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) | listen(listener, 0)
                    | getsockname(listener, address, &length)
            }
        }
        guard listener >= 0, status == 0 else { throw ScriptedServer.Failure.noSocket }
        // A queue of zero has room for one; a few more make sure, and wait for ever.
        queued = (0..<4).map { _ in
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            withUnsafePointer(to: &address) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(peer, $0, length) }
            }
            return peer
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func close() {
        for socket in queued + [listener] { Glibc.close(socket) }
    }
}
