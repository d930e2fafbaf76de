import Glibc

/// A system call that failed.
struct SystemError: Error, CustomStringConvertible {
    /// What was tried, in words: `write an object`.
    let operation: StaticString
    /// The `errno` value.
    let number: CInt

    /// The failure of the call just made; read before anything else can change `errno`.
    init(_ operation: StaticString, number: CInt = errno) {
        self.operation = operation
        self.number = number
    }

    /// The disk or the folder takes nothing.
    var isRefusal: Bool { [EROFS, EACCES, EPERM, ENOSPC, EDQUOT].contains(number) }

    /// The disk, or what of it the user may take, is full.
    var isFullDisk: Bool { [ENOSPC, EDQUOT].contains(number) }

    /// The system's own words for the cause.
    var description: String {
        "cannot \(operation) (\(String(cString: strerror(number))))"
    }
}

/// Turns the status of a system call into its result; the one place that does.
@discardableResult
func check(_ operation: StaticString, _ status: CInt) throws(SystemError) -> CInt {
    guard status >= 0 else { throw SystemError(operation) }
    return status
}
