import Media

/// Bytes in memory around the place where they are read: what the loader fetched ahead, and a piece behind.
struct HeldWindow: Sendable {
    /// 8 MiB behind the reader: a seek back of more than three minutes at 320 kbit/s fetches nothing.
    static let mostBehind: Int64 = 8 << 20

    private let mostBehind: Int64
    private var bytes = BufferedBytes()
    /// Where the last read began.
    private var place: Int64 = 0

    init(mostBehind: Int64) { self.mostBehind = mostBehind }

    var ranges: ByteRangeSet { bytes.ranges }

    /// Up to `count` bytes from `offset` on; nil when there are none. What lies too far behind goes.
    mutating func read(at offset: Int64, count: Int) -> ArraySlice<UInt8>? {
        guard let piece = bytes.bytes(at: offset, count: count) else { return nil }
        place = offset
        trim()
        return piece
    }

    /// Takes bytes for a gap.
    mutating func write(_ piece: ArraySlice<UInt8>, at offset: Int64) {
        bytes.insert(piece, at: offset)
        trim()
    }

    /// Of the bytes before the reader only the nearest stay; all before it, when it went back.
    private mutating func trim() {
        var excess = -mostBehind
        for range in bytes.ranges.ranges where range.lowerBound < place {
            excess += Int64((range.lowerBound..<min(range.upperBound, place)).count)
        }
        guard excess > 0 else { return }
        for range in bytes.ranges.ranges where excess > 0 {
            let gone = range.prefix(Int(clamping: excess))
            bytes.remove(gone)
            excess -= Int64(gone.count)
        }
    }
}
