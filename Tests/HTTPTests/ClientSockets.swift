import Glibc

/// Sockets of this process.
enum ClientSockets {
    /// Those that are connected to `port` of this machine.
    static func connected(to port: UInt16) -> [Int32] {
        (Int32(0)..<1_024).filter { peerPort(of: $0) == port }
    }

    /// Nil for what is no connected socket. The port has the same place in the addresses of IPv4 and IPv6.
    private static func peerPort(of socket: Int32) -> UInt16? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
        }
        guard status == 0, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
        return UInt16(bigEndian: address.sin6_port)
    }

    /// The port at this end, which tells one connection from another.
    static func ownPort(of socket: Int32) -> UInt16? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return status == 0 ? UInt16(bigEndian: address.sin6_port) : nil
    }

    /// A number that the system keeps of `socket`.
    static func option(_ name: Int32, of socket: Int32, level: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, level, name, &value, &length) == 0 ? value : nil
    }

    /// Whether the other end has closed.
    static func isEnded(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }
}
