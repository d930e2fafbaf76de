import Media

/// The bytes in memory around a reader: all that were downloaded ahead of it, and a bounded part behind.
struct HeldWindow: Sendable {
    /// 8 MiB behind the reader: seeking back more than three minutes at 320 kbit/s needs no download.
    static let mostBehind: Int64 = 8 << 20

    private let mostBehind: Int64
    private var bytes = BufferedBytes()
    /// The offset of the last read.
    private var place: Int64 = 0

    init(mostBehind: Int64) { self.mostBehind = mostBehind }

    var ranges: ByteRangeSet { bytes.ranges }

    /// Up to `count` bytes from `offset` on; `nil` if there are none. Drops what is too far behind.
    mutating func read(at offset: Int64, count: Int) -> ArraySlice<UInt8>? {
        guard let piece = bytes.bytes(at: offset, count: count) else { return nil }
        place = offset
        trim()
        return piece
    }

    /// Adds bytes at missing offsets.
    mutating func write(_ piece: ArraySlice<UInt8>, at offset: Int64) {
        bytes.insert(piece, at: offset)
        trim()
    }

    /// Drops all but the nearest bytes behind the reader.
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
