import Media

/// Finds the packets of a track by their numbers. It reads tables when they are needed, and decodes nothing.
protocol PacketIndex: AnyObject {
    /// The number of packets; `nil` if unknown.
    var packetCount: Int64? { get }

    /// The number of packets in a resource of `length` bytes, an estimate if it is unknown; `nil` without a
    /// length.
    func estimatedCount(length: Int64?) -> Int64?

    /// The offsets of packet `number`; `nil` after the last packet, and empty if the file lacks this one.
    func place(of number: Int64) async throws -> ByteRange?

    /// The offset of the first packet.
    var start: Int64 { get }

    /// The parts of the tables that must be read to find packet `number`.
    func tables(for number: Int64) -> [ByteRange]

    /// The places found so far, in the form stored with the entry; empty without any.
    func stored() -> [UInt8]
}

/// The packets of a track whose tables are in `moov`. Of large tables only the parts that are needed are
/// read.
///
/// Some recorders write the first packets into tables and the others into fragments. These are looked for
/// only once the tables end, so that the first sound takes no further request.
final class TableIndex: PacketIndex {
    /// The most packets of a chunk whose sizes are added up to find a later one.
    private static let mostSummed: Int64 = 1 << 18

    private let table: SampleTable
    private let bytes: HeldBytes
    /// The parts of the tables that were read last.
    private var sizes: (range: ByteRange, bytes: [UInt8]) = (0..<0, [])
    private var chunks: (range: ByteRange, bytes: [UInt8]) = (0..<0, [])
    /// The packet after the last one that was found, its offset, and the end of its chunk.
    private var next: (number: Int64, offset: Int64, chunkEnd: Int64) = (0, 0, 0)
    private(set) var start: Int64 = 0
    /// The offset after the last packet of the tables, if fragments may follow.
    private var end: Int64 = 0
    /// Looks for the first fragment. `nil` if no fragments follow the tables, and after the first look.
    private var findFragments: (() async throws -> FragmentIndex?)?
    private var fragments: FragmentIndex?

    /// Reads the place of the first packet. `nil` if the track has no packets.
    init?(_ table: SampleTable, _ bytes: HeldBytes) async throws {
        self.table = table
        self.bytes = bytes
        guard let first = try await place(of: 0) else { return nil }
        start = first.lowerBound
    }

    /// Continues with the fragments that `find` finds. The tables' last packet ends at `end`.
    func goOn(behind end: Int64, finding find: @escaping () async throws -> FragmentIndex?) {
        self.end = end
        findFragments = find
    }

    var packetCount: Int64? {
        guard findFragments == nil else { return nil }
        guard let fragments else { return table.packetCount }
        return fragments.packetCount.map { table.packetCount + $0 }
    }

    /// Until a fragment was found, its packets are taken to be as long as those of the tables.
    func estimatedCount(length: Int64?) -> Int64? {
        if let fragments { return fragments.estimatedCount(length: length).map { table.packetCount + $0 } }
        guard findFragments != nil, let length, end > start else { return packetCount }
        return Int64(Double(table.packetCount) * Double(max(end, length) - start) / Double(end - start))
    }

    func place(of number: Int64) async throws -> ByteRange? {
        guard number < table.packetCount else {
            if let findFragments { fragments = try await findFragments() }
            findFragments = nil
            return try await fragments?.place(of: number - table.packetCount)
        }
        if number != next.number || number >= next.chunkEnd {
            guard try await locate(number) else { return nil }
        }
        guard let size = try await size(of: number) else { return nil }
        let offset = next.offset
        next.number += 1
        next.offset += size
        return offset..<offset + size
    }

    /// Moves `next` to packet `number`. Returns `false` if the tables do not have its place.
    private func locate(_ number: Int64) async throws -> Bool {
        guard let (chunk, packets) = table.chunk(of: number), let numbers = table.chunks,
            chunk < numbers.count,
            packets.lowerBound <= number
        else { return false }
        let slab = numbers.slab(of: chunk)
        if chunks.range != slab { chunks = (slab, try await bytes.tableBytes(in: slab)) }
        guard var offset = numbers.number(chunk, in: chunks.bytes), (0..<BoxWalk.farthest).contains(offset)
        else { return false }
        let before = number - packets.lowerBound
        if table.fixedSize > 0 {
            let (sum, isLarge) = before.multipliedReportingOverflow(by: table.fixedSize)
            guard !isLarge, sum < BoxWalk.farthest else { return false }
            offset += sum
        } else {
            guard before <= Self.mostSummed else { return false }
            for index in packets.lowerBound..<number {
                guard let size = try await size(of: index) else { return false }
                offset += size
            }
        }
        next = (number, offset, packets.upperBound)
        return true
    }

    private func size(of number: Int64) async throws -> Int64? {
        guard table.fixedSize == 0, let sizes = table.sizes else { return table.fixedSize }
        let slab = sizes.slab(of: number)
        if self.sizes.range != slab { self.sizes = (slab, try await bytes.tableBytes(in: slab)) }
        return sizes.number(number, in: self.sizes.bytes)
    }

    func tables(for number: Int64) -> [ByteRange] {
        guard let (chunk, packets) = table.chunk(of: number) else {
            return fragments?.tables(for: number - table.packetCount) ?? []
        }
        var ranges = [table.chunks?.slab(of: chunk)].compactMap { $0 }
        if table.fixedSize == 0, let sizes = table.sizes {
            ranges += [sizes.slab(of: packets.lowerBound), sizes.slab(of: number)]
        }
        return ranges
    }

    func stored() -> [UInt8] { fragments?.stored() ?? [] }
}
