import Media
import System

/// Stores the bytes of one resource for as long as it is open.
///
/// They are in an unlinked file, sealed with a key that only this process has. Without a file, or once its
/// disk is full, they are in memory, and only a window around the reader is stored.
final class VolatileStore: ByteStore {
    private struct Contents {
        var description = EntryDescription()
        /// The extents in the file.
        var filed = EntryState(description: EntryDescription(), extents: [])
        /// The bytes that did not fit into the file.
        var held: HeldWindow
        /// `true` once a write to the file failed, so that it is not retried for each chunk.
        var isFileFull: Bool
        /// The extent that was unsealed last, so that small reads do not unseal it each time.
        var unsealed: (extent: Extent, bytes: [UInt8])?

        var stored: ByteRangeSet { held.ranges.isEmpty ? filed.stored : filed.stored.union(held.ranges) }
    }

    private let file: ObjectFile?
    // Keeps the thread running as long as a store needs it.
    private let owner: VolatileStores
    private let subject: SafeText
    private let contents: Locked<Contents>

    /// A store on an open, empty file; in memory only if `file` is `nil`.
    init(
        file: ObjectFile?,
        subject: SafeText,
        owner: VolatileStores,
        mostBehind: Int64 = HeldWindow.mostBehind
    ) {
        self.file = file
        self.subject = subject
        self.owner = owner
        contents = Locked(Contents(held: HeldWindow(mostBehind: mostBehind), isFileFull: file == nil))
    }

    package var description: EntryDescription { contents.withLock { $0.description } }
    package var stored: ByteRangeSet { contents.withLock { $0.stored } }
    package var isPersistent: Bool { false }

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        let held = contents.withLock { $0.held.read(at: offset, count: count) }
        if let held { return Array(held) }
        guard let file else { return [] }
        return await owner.io.run { self.readNow(at: offset, count: count, from: file) }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else {
            throw MediaError(.notCached, subject, "bytes at an impossible offset can't be cached")
        }
        await owner.io.run { self.writeNow(bytes, to: offset..<end) }
    }

    package func describe(_ description: EntryDescription) {
        contents.withLock { $0.description = description }
    }

    /// Does nothing: no byte is made durable.
    package func commit() async throws {}

    /// Does nothing: no bytes outlast this store.
    package func discard() async {}

    /// Does nothing: the last reference to the file frees its disk space.
    package func close() async {}

    private func readNow(at offset: Int64, count: Int, from file: ObjectFile) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let (position, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
            guard !isTooFar,
                case .committed(let extent, _)? = contents.withLock({
                    $0.filed.segment(at: position, count: 1)
                }),
                let whole = unsealed(extent, from: file)
            else { break }
            let start = Int(position - extent.range.lowerBound)
            bytes += whole[start..<min(whole.count, start + count - bytes.count)]
        }
        return bytes
    }

    /// The bytes of an extent. If another program truncated or changed the file, returns `nil` and marks the
    /// bytes as missing; otherwise a reader would wait for them for ever.
    private func unsealed(_ extent: Extent, from file: ObjectFile) -> [UInt8]? {
        let last = contents.withLock { $0.unsealed }
        if let last, last.extent == extent { return last.bytes }
        let stored = (try? file.read(extent.range)) ?? []
        let bytes = owner.protection.bytes(of: extent, from: stored, of: file.entry)
        contents.withLock { contents in
            if let bytes {
                contents.unsealed = (extent, bytes)
            } else {
                _ = contents.filed.extentDropped(extent)
            }
        }
        return bytes
    }

    private func writeNow(_ bytes: [UInt8], to range: ByteRange) {
        let (gaps, isFileFull) = contents.withLock { contents in
            let gaps = contents.filed.gaps(in: range).flatMap { contents.held.ranges.gaps(in: $0) }
            return (gaps, contents.isFileFull)
        }
        for gap in gaps.flatMap(Extent.pieces) {
            let start = Int(gap.lowerBound - range.lowerBound)
            let piece = bytes[start..<start + gap.count]
            let extent = isFileFull ? nil : filed(piece, at: gap)
            contents.withLock { contents in
                if let extent {
                    contents.filed.extentsSeen([extent])
                } else {
                    contents.isFileFull = true
                    contents.held.write(piece, at: gap.lowerBound)
                }
            }
        }
    }

    /// Writes the bytes to the file and returns their extent; `nil` if writing fails.
    private func filed(_ bytes: ArraySlice<UInt8>, at range: ByteRange) -> Extent? {
        guard let file else { return nil }
        let (sealed, extent) = owner.protection.keep(Array(bytes), at: range, of: file.entry)
        return (try? file.write(sealed[...], at: range.lowerBound)).map { extent }
    }
}

/// The bytes in memory around a reader: all that were downloaded ahead of it, and a bounded part behind.
struct HeldWindow: Sendable {
    /// 8 MiB behind the reader: seeking back by up to three minutes at 320 kbit/s needs no download.
    static let mostBehind: Int64 = 8 << 20

    private let mostBehind: Int64
    private var bytes = SparseBytes()
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

    /// If more than `mostBehind` bytes lie behind the reader, drops the excess, lowest offsets first.
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
