import Media

/// The place and the form of a table of numbers in a file. The numbers are read in slabs, when they are
/// needed.
struct NumberTable: Equatable {
    /// The numbers of a slab.
    static let slabCount: Int64 = 8_192

    /// The offset of the first number.
    let offset: Int64
    /// The bits of a number: 4, 8, 16, 32 or 64.
    let width: Int64
    let count: Int64

    /// The table at the start of `content`, after `head` bytes; cut where the content ends.
    init(in content: ByteRange, after head: Int64, width: Int64, count: Int64) {
        offset = content.lowerBound + head
        self.width = width
        self.count = max(0, min(count, (content.upperBound - offset) * 8 / width))
    }

    /// The bytes of all numbers.
    var range: ByteRange { offset..<offset + (count * width + 7) / 8 }

    /// The offsets of the slab with number `index`; empty if the table has no such number.
    func slab(of index: Int64) -> ByteRange {
        let first = min(index - index % Self.slabCount, count)
        let end = min(first + Self.slabCount, count)
        return offset + first * width / 8..<offset + (end * width + 7) / 8
    }

    /// Number `index`, whose slab has the bytes `slab`; `nil` if they are cut.
    func number(_ index: Int64, in slab: [UInt8]) -> Int64? {
        let place = Int(index % Self.slabCount * width / 8)
        let byteCount = Int(max(1, width / 8))
        guard place + byteCount <= slab.count else { return nil }
        let value = slab[place..<place + byteCount].bigEndianNumber
        if width == 4 { return index % 2 == 0 ? value >> 4 : value & 15 }
        return value
    }
}

/// The tables that state where the packets of a track are (ISO/IEC 14496-12 §8.7). Pure.
struct SampleTable: Equatable {
    /// A run of chunks with equally many packets.
    struct Run: Equatable {
        var firstChunk: Int64
        var firstPacket: Int64
        var packetsPerChunk: Int64
    }

    /// The most runs; an audiobook of 24 hours has fewer.
    static let mostRuns = 1 << 18

    /// The size of every packet; 0 if `sizes` states each.
    var fixedSize: Int64 = 0
    var sizes: NumberTable?
    var packetCount: Int64 = 0
    var chunks: NumberTable?
    private(set) var runs: [Run] = []

    /// `true` if packets can be found.
    var isComplete: Bool {
        (fixedSize > 0 || sizes != nil) && chunks != nil && !runs.isEmpty && packetCount > 0
    }

    /// Takes the entries of `stsc`. An entry whose first chunk is not after that of the previous entry ends
    /// the table.
    mutating func parseRuns(_ content: [UInt8]) {
        var reader = BigEndianReader(content, at: 8)
        while let chunk = reader.next(4), let count = reader.next(4), reader.next(4) != nil,
            runs.count < Self.mostRuns
        {
            guard count > 0, chunk > 0, chunk - 1 > runs.last?.firstChunk ?? -1 else { return }
            var first: Int64 = 0
            if let last = runs.last {
                let (packets, isLarge) = (chunk - 1 - last.firstChunk).multipliedReportingOverflow(
                    by: last.packetsPerChunk
                )
                guard !isLarge, packets < BoxWalk.farthest - last.firstPacket else { return }
                first = last.firstPacket + packets
            }
            runs.append(Run(firstChunk: chunk - 1, firstPacket: first, packetsPerChunk: count))
        }
    }

    /// The chunk that has packet `number`, the number of its first packet, and that of the packet after its
    /// last one.
    func chunk(of number: Int64) -> (chunk: Int64, packets: Range<Int64>)? {
        let count = runs.partitioningIndex { $0.firstPacket > number }
        guard count > 0, number < packetCount else { return nil }
        let run = runs[count - 1]
        let index = (number - run.firstPacket) / run.packetsPerChunk
        let first = run.firstPacket + index * run.packetsPerChunk
        return (run.firstChunk + index, first..<min(first + run.packetsPerChunk, packetCount))
    }
}
