import Media

/// The bytes of one resource for as long as it is open.
///
/// In a file that has no name; without one, or when its disk is full, in memory, where only a window around
/// the reader is held.
final class VolatileStore: ByteStore {
    private struct Contents {
        var description = EntryDescription()
        /// What the file has.
        var filed = ByteRangeSet()
        /// What the file would not take.
        var held: HeldWindow
        /// Set once the file took no more: the disk will not get emptier by trying for each chunk.
        var isFileFull: Bool

        var stored: ByteRangeSet { held.ranges.isEmpty ? filed : filed.union(held.ranges) }
    }

    private let file: ObjectFile?
    private let subject: SafeText
    // Keeps the thread alive as long as a store needs it.
    private let owner: VolatileStores
    private let io: WorkThread
    private let contents: Locked<Contents>

    /// A store on an open, empty file; in memory alone without one.
    init(
        file: ObjectFile?,
        subject: SafeText,
        owner: VolatileStores,
        io: WorkThread,
        mostBehind: Int64 = HeldWindow.mostBehind
    ) {
        self.file = file
        self.subject = subject
        self.owner = owner
        self.io = io
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
        return try await io.run {
            guard let run = self.contents.withLock({ $0.filed.run(from: offset) }) else { return [] }
            do {
                let bytes = try file.read(run.prefix(count))
                // The file was cut under us: to claim what it had would make the reader ask for ever.
                if bytes.isEmpty { self.contents.withLock { $0.filed.remove(contentsOf: run) } }
                return bytes
            } catch {
                throw MediaError(.unreadable, self.subject, SafeText("\(error)"))
            }
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else {
            throw MediaError(.notKept, subject, "bytes at an impossible offset cannot be kept")
        }
        await io.run { self.writeNow(bytes, to: offset..<end) }
    }

    package func describe(_ description: EntryDescription) {
        contents.withLock { $0.description = description }
    }

    /// There is nothing to make durable.
    package func commit() async throws {}

    /// Nothing outlives this open anyhow, and until then its bytes are read on.
    package func discard() async {}

    /// The disk gets its room back when the last reference goes.
    package func close() async {}

    private func writeNow(_ bytes: [UInt8], to range: ByteRange) {
        let (gaps, isFileFull) = contents.withLock { contents in
            let gaps = contents.filed.gaps(in: range).flatMap { contents.held.ranges.gaps(in: $0) }
            return (gaps, contents.isFileFull)
        }
        for gap in gaps {
            let start = Int(gap.lowerBound - range.lowerBound)
            let piece = bytes[start..<start + gap.count]
            let isFiled = !isFileFull && (try? file?.write(piece, at: gap.lowerBound)) != nil
            contents.withLock { contents in
                if isFiled {
                    contents.filed.insert(contentsOf: gap)
                } else {
                    contents.isFileFull = true
                    contents.held.write(piece, at: gap.lowerBound)
                }
            }
        }
    }
}
