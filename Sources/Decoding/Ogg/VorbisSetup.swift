/// The codebooks of a setup header of Vorbis (Vorbis I §3.2.1). Pure.
///
/// A few bytes can state a codebook of millions of entries, and libvorbis would allocate and fill all of
/// them.
enum VorbisSetup {
    /// The type of the packet, and the name of the codec.
    private static let mark = [5] + Array("vorbis".utf8)
    private static let sync = 0x564342
    /// The most entries of all books together, and the most numbers in their vectors. The books of oggenc and
    /// ffmpeg have 11,000 and 63,000.
    private static let mostEntries = 1 << 18
    private static let mostNumbers = 1 << 20

    /// `true` if the codebooks in `packet` can be read and take at most some megabytes of memory.
    static func isBounded(_ packet: [UInt8]) -> Bool {
        guard packet.starts(with: mark) else { return false }
        var bits = BitReader(Array(packet[mark.count...]), lowestFirst: true)
        var entries = 0
        var numbers = 0
        for _ in 0...bits.next(8) {
            guard bits.next(24) == sync else { return false }
            let dimensions = bits.next(16)
            let count = bits.next(24)
            entries += count
            numbers += count * dimensions
            guard entries <= mostEntries, numbers <= mostNumbers else { return false }
            skipLengths(of: count, &bits)
            skipVectors(of: count, dimensions, &bits)
            guard bits.remaining >= 0 else { return false }
        }
        return true
    }

    /// Skips the lengths of the codes of `count` entries.
    private static func skipLengths(of count: Int, _ bits: inout BitReader) {
        if bits.flag() {
            bits.skip(5)
            var known = 0
            while known < count, bits.remaining >= 0 { known += bits.next(width(of: count - known)) }
        } else if bits.flag() {
            for _ in 0..<count where bits.flag() { bits.skip(5) }
        } else {
            bits.skip(5 * count)
        }
    }

    /// Skips the numbers from which the vectors of `count` entries are made.
    private static func skipVectors(of count: Int, _ dimensions: Int, _ bits: inout BitReader) {
        let kind = bits.next(4)
        guard kind > 0 else { return }
        bits.skip(64)
        let size = bits.next(4) + 1
        bits.skip(1)
        bits.skip(size * (kind == 1 ? root(of: count, dimensions) : count * dimensions))
    }

    /// The number of bits that `value` needs.
    private static func width(of value: Int) -> Int { Int.bitWidth - value.leadingZeroBitCount }

    /// The largest number that, to the power of `dimensions`, is at most `count`.
    private static func root(of count: Int, _ dimensions: Int) -> Int {
        guard dimensions > 0, count > 0 else { return 0 }
        var root = 1
        while power(root + 1, dimensions, upTo: count) <= count { root += 1 }
        return root
    }

    /// `base` to the power of `exponent`, or any number over `limit` if it is larger than that.
    private static func power(_ base: Int, _ exponent: Int, upTo limit: Int) -> Int {
        var power = 1
        for _ in 0..<exponent where power <= limit { power *= base }
        return power
    }
}
