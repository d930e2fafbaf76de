/// Values in their order, each after its size: the form of the cache's records.
///
/// New values are only added at the end. So a list may be shorter than expected, and lacks those values, or
/// longer, and the values at its end are ignored.
package struct ValueList: Sendable, Equatable {
    private static let absent = UInt32.max

    private var values: [ArraySlice<UInt8>?] = []

    package var bytes: [UInt8] {
        values.flatMap { ($0.map { UInt32($0.count) } ?? Self.absent).bigEndianBytes + ($0 ?? []) }
    }

    package init() {}

    /// Parses a list; `nil` if it is cut.
    package init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let size = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(4)
            guard size != Self.absent else {
                values.append(nil)
                continue
            }
            guard rest.count >= Int(size) else { return nil }
            values.append(rest.prefix(Int(size)))
            rest = rest.dropFirst(Int(size))
        }
    }

    package mutating func append(_ value: [UInt8]?) { values.append(value?[...]) }

    package mutating func append(_ text: String?) { append(text.map { Array($0.utf8) }) }

    /// The value at `place`; `nil` if it is absent.
    package subscript(place: Int) -> ArraySlice<UInt8>? { place < values.count ? values[place] : nil }

    package func text(_ place: Int) -> String? { self[place].map { String(decoding: $0, as: UTF8.self) } }

    package func number(_ place: Int) -> Int64? { self[place].flatMap { Self.number($0) } }

    /// The number in eight bytes, the highest first; `nil` for another count.
    package static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
        bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | Int64($1) } : nil
    }
}

extension FixedWidthInteger {
    /// The bytes, the highest first.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
