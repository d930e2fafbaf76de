import Glibc

/// A system call that failed: what was tried, and the system's reason.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The attempted operation, in words that follow "can't": `open the index`.
    package let operation: String
    /// The `errno` value.
    package let number: CInt

    /// The failure of the preceding system call. Nothing that can change `errno` may run between that call
    /// and this one.
    package init(_ operation: String, number: CInt = errno) {
        self.operation = operation
        self.number = number
    }

    package var description: String { "can't \(operation) (\(reason))" }

    /// The system's text for the reason: `No such file or directory`.
    package var reason: String { Self.reason(number) }

    /// The system's text for an `errno` value. Unlike that of `strerror`, no other thread can overwrite it.
    package static func reason(_ number: CInt = errno) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `true` if the disk is full, or the user's quota is used up.
    package var isFullDisk: Bool { [ENOSPC, EDQUOT].contains(number) }

    /// `true` if the disk or the folder accepts no data.
    package var isRefusal: Bool { isFullDisk || [EROFS, EACCES, EPERM].contains(number) }
}

/// Returns the result of a system call, or throws if it is negative.
@discardableResult
package func check(_ operation: String, _ status: CInt) throws(SystemError) -> CInt {
    guard status >= 0 else { throw SystemError(operation) }
    return status
}

/// Repeats a system call as long as signals interrupt it (`EINTR`), and returns its result.
@discardableResult
package func retryingInterrupted<Status: SignedInteger>(_ call: () -> Status) -> Status {
    while true {
        let status = call()
        if status >= 0 || errno != EINTR { return status }
    }
}
