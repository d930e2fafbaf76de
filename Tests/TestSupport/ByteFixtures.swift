import Foundation
import System

/// Pseudo-random bytes that are the same every time.
package enum ByteFixtures {
    /// `count` bytes that depend only on `seed`; more bytes begin with the same ones.
    package static func bytes(count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                // Uses all eight bytes of each number, for speed in debug builds.
                withUnsafeBytes(of: random.next().littleEndian) { word in
                    for byte in word.prefix(count - filled) {
                        buffer[filled] = byte
                        filled += 1
                    }
                }
            }
        }
    }
}

/// A random number generator that depends only on its seed (SplitMix64), so that a failing
/// random test is identified by one number.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var numbers: SplitMix64

    package init(seed: UInt64) { numbers = SplitMix64(seed: seed &+ 0x9E37_79B9_7F4A_7C15) }

    package mutating func next() -> UInt64 { numbers.next() }
}

/// The number of cases of a test: a subset in `make test`, all of them in `make soak`.
package enum TestCount {
    /// `true` in `make soak`.
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
