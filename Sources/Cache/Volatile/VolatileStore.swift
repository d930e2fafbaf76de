import Media

/// The bytes of one resource for as long as it is open.
///
/// Keeps all of it in a file that has no name. What a player without any disk needs, a bounded window
/// in memory, would be another `ByteStore` beside this one.
final class VolatileStore: ByteStore {
    private struct Contents {
        var description = EntryDescription()
        var stored = ByteRangeSet()
    }

    private let file: ObjectFile
    private let subject: SafeText
    // Keeps the thread alive as long as a store needs it.
    private let owner: VolatileStores
    private let io: WorkThread
    private let contents = Locked(Contents())

    init(file: ObjectFile, subject: SafeText, owner: VolatileStores, io: WorkThread) {
        self.file = file
        self.subject = subject
        self.owner = owner
        self.io = io
    }

    package var description: EntryDescription { contents.withLock { $0.description } }
    package var stored: ByteRangeSet { contents.withLock { $0.stored } }
    package var isPersistent: Bool { false }

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        return try await io.run {
            guard let run = self.contents.withLock({ $0.stored.run(from: offset) }) else { return [] }
            do {
                let bytes = try self.file.read(run.prefix(count))
                // The file was cut under us: to claim what it had would make the reader ask for ever.
                if bytes.isEmpty { self.contents.withLock { $0.stored.remove(contentsOf: run) } }
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
        try await io.run { try self.writeNow(bytes, to: offset..<end) }
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

    private func writeNow(_ bytes: [UInt8], to range: ByteRange) throws {
        for gap in contents.withLock({ $0.stored.gaps(in: range) }) {
            let start = Int(gap.lowerBound - range.lowerBound)
            do {
                try file.write(bytes[start..<start + gap.count], at: gap.lowerBound)
            } catch {
                throw MediaError(.notKept, "temporary file", SafeText("\(error)"))
            }
            contents.withLock { $0.stored.insert(contentsOf: gap) }
        }
    }
}
