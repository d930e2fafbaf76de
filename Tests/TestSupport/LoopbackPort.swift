import Foundation
import Glibc

/// Ports of 127.0.0.1 for external servers.
package enum LoopbackPort {
    /// A port that was free a moment ago, since most servers cannot report which port they took.
    ///
    /// It lies below those that Linux gives to connections: one of these could be taken by a client before
    /// the server has it, or even be connected to itself.
    package static func free() throws -> UInt16 {
        for _ in 0..<100 {
            guard let (descriptor, port) = try? taken(UInt16.random(in: 12_000..<32_000)) else { continue }
            close(descriptor)
            return port
        }
        throw RunningProcess.Failure(description: "no port to be had")
    }

    /// A bound socket that does not listen yet, at `port`, or at any if that is 0; the caller closes it.
    package static func taken(_ port: UInt16 = 0) throws -> (socket: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isTaken = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isTaken else {
            let failure = RunningProcess.Failure(description: "no port to be had: errno \(errno)")
            close(descriptor)
            throw failure
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// `true` if a server listens on `port` of 127.0.0.1.
    package static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return connect(descriptor, to: port)
    }

    /// Connects a socket to `port` of 127.0.0.1, or begins to if it does not block. Returns `true` if it is
    /// connected.
    @discardableResult
    package static func connect(_ descriptor: Int32, to port: UInt16) -> Bool {
        var address = loopback(port)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return address
    }
}

/// A host name that does not exist.
package enum UnknownHost {
    /// Its first label is too long (RFC 1035 §2.3.4), so no name server is asked: one that does not
    /// answer would turn it into another, slow failure.
    package static let name = String(repeating: "nowhere-", count: 8) + ".invalid"
}
