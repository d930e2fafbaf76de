/// Reads numbers of any number of bits, the most significant first; past the end they are 0.
struct BitReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bits that are left; negative if more were read than there are.
    var remaining: Int { bytes.count * 8 - index }

    /// The next `count` bits, at most 32.
    mutating func next(_ count: Int) -> Int {
        var value = 0
        for _ in 0..<count {
            let bit = index < bytes.count * 8 ? Int(bytes[index / 8] >> UInt8(7 - index % 8)) & 1 : 0
            value = value << 1 | bit
            index += 1
        }
        return value
    }

    mutating func flag() -> Bool { next(1) == 1 }
}
