import Foundation

/// How many cases of a test are run: a subset in `make test`, all of them in `make soak`.
package enum TestCount {
    /// Whether the full counts are asked for.
    package static let isFull = ProcessInfo.processInfo.environment["REPRISE_SOAK"] == "1"

    /// `subset`, or `full` in `make soak`.
    package static func of(_ subset: Int, full: Int) -> Int { isFull ? full : subset }

    /// The seeds from 0 up to `subset`, or up to `full` in `make soak`; the subset is the beginning.
    package static func seeds(_ subset: UInt64, full: UInt64) -> Range<UInt64> {
        0..<(isFull ? full : subset)
    }

    /// Prints a figure of a full run: `figure: NAME NUMBER`.
    package static func note(_ name: String, _ number: Int64) {
        if isFull { print("figure: \(name) \(number)") }
    }
}
