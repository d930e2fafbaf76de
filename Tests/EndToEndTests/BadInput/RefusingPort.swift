import Glibc
import TestSupport

/// A port of 127.0.0.1 at which connections are refused for as long as this lives.
///
/// It is taken and not listened at; a port that was merely free could become another test's.
final class RefusingPort: Sendable {
    let number: UInt16
    private let descriptor: Int32

    init() throws { (descriptor, number) = try LoopbackPort.taken() }

    deinit { close(descriptor) }
}
