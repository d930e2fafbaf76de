import Glibc
import RepriseOrigin

/// A port of 127.0.0.1 at which connections are refused for as long as this lives.
///
/// It is taken and not listened at; a port that was merely free could become another test's.
final class RefusingPort: Sendable {
    let number: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        self.descriptor = descriptor
        number = UInt16(bigEndian: address.sin_port)
        guard status else { throw OriginFailure(operation: "take a port", code: errno) }
    }

    deinit { close(descriptor) }
}
