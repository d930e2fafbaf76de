import Glibc

/// Why the origin could not be started.
package struct OriginFailure: Error, Equatable, CustomStringConvertible {
    /// What was tried, on which thing.
    package var operation: String
    /// The `errno` of it.
    package var code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }

    /// The failure of the call that has just returned.
    static func last(_ operation: String) -> OriginFailure {
        OriginFailure(operation: operation, code: errno)
    }
}
