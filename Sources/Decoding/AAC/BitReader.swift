/// Reads numbers of any number of bits; past the end they are 0.
struct BitReader {
    private let bytes: [UInt8]
    /// `true` if bytes and numbers begin with their least significant bit, as in Vorbis.
    private let isLowestFirst: Bool
    private var index = 0

    init(_ bytes: [UInt8], lowestFirst isLowestFirst: Bool = false) {
        self.bytes = bytes
        self.isLowestFirst = isLowestFirst
    }

    /// The number of bits that are left; negative if more were read than there are.
    var remaining: Int { bytes.count * 8 - index }

    /// The next `count` bits, at most 32.
    mutating func next(_ count: Int) -> Int {
        var value = 0
        for place in 0..<count {
            if remaining > 0 {
                let bit = Int(bytes[index / 8] >> UInt8(isLowestFirst ? index % 8 : 7 - index % 8)) & 1
                value |= bit << (isLowestFirst ? place : count - 1 - place)
            }
            index += 1
        }
        return value
    }

    mutating func flag() -> Bool { next(1) == 1 }

    mutating func skip(_ count: Int) { index += count }
}
