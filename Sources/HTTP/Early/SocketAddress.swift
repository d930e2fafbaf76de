internal import Glibc

/// An address and a port of IPv4 or IPv6, as sockets take them.
struct SocketAddress: Equatable, Sendable {
    private enum Host: Equatable {
        case v4([UInt8])
        case v6([UInt8], scope: UInt32)
    }

    private let host: Host
    let port: UInt16

    /// The address that `host` spells, without brackets; nil when it is a name.
    init?(numeric host: String, port: UInt16) {
        self.port = port
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, host, &v4) == 1 {
            self.host = .v4(Self.bytes(of: v4))
        } else if inet_pton(AF_INET6, host, &v6) == 1 {
            self.host = .v6(Self.bytes(of: v6), scope: 0)
        } else {
            return nil
        }
    }

    /// Nil for another family, and when `length` is too short for its family.
    init?(_ address: UnsafeRawPointer, length: Int) {
        guard length >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let v4 = address.loadUnaligned(as: sockaddr_in.self)
            host = .v4(Self.bytes(of: v4.sin_addr))
            port = UInt16(bigEndian: v4.sin_port)
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let v6 = address.loadUnaligned(as: sockaddr_in6.self)
            host = .v6(Self.bytes(of: v6.sin6_addr), scope: v6.sin6_scope_id)
            port = UInt16(bigEndian: v6.sin6_port)
        default: return nil
        }
    }

    /// `AF_INET` or `AF_INET6`.
    var family: Int32 {
        switch host {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    /// Without the port; IPv6 in brackets, and nil with a scope, which no URL could name either.
    var text: String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch host {
        case .v4(let bytes): inet_ntop(AF_INET, bytes, &text, socklen_t(text.count))
        case .v6(let bytes, scope: 0): inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
        case .v6: return nil
        }
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return family == AF_INET ? address : "[\(address)]"
    }

    /// Calls `body` with the address in the system's own form.
    func withSystemForm<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch host {
        case .v4(let bytes):
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &v4.sin_addr) { $0.copyBytes(from: bytes) }
            return Self.pass(v4, to: body)
        case .v6(let bytes, let scope):
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            v6.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &v6.sin6_addr) { $0.copyBytes(from: bytes) }
            return Self.pass(v6, to: body)
        }
    }

    private static func pass<Form, Result>(
        _ form: Form,
        to body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: form) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Form>.size))
            }
        }
    }

    private static func bytes<Form>(of value: Form) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
