import Media
import System

/// A part of a stream: a region of the object of the stream's entry, as a store whose offsets begin at 0.
///
/// The region is reserved when the first byte is written, since the length is known by then. Bytes for which
/// there is no room, and those of a part that was discarded, go to a volatile store. The bytes are committed
/// by the entry's store, together with those of other parts, so closing this store commits nothing.
final class PartStore: ByteStore {
    private struct Guarded {
        var description: EntryDescription
        /// `nil` until a byte is written.
        var region: ByteRange?
        /// The bytes that may be committed; `nil` for all.
        var proven: ByteRangeSet?
        /// Stores the bytes that are not in the region.
        var volatile: (any ByteStore)?
        var isDiscarded = false
    }

    private let key: PartKey
    private let url: WebURL
    private let likelyLength: Int64
    private let owner: PersistentStore
    // Guards the state; `owner` is called while it is held, and takes only its own lock.
    private let guarded: Locked<Guarded>

    /// `row` is the row of the part in the index; `nil` if the index has none.
    init(_ key: PartKey, at url: WebURL, likelyLength: Int64, _ row: PartRow?, of owner: PersistentStore) {
        self.key = key
        self.url = url
        self.likelyLength = likelyLength
        self.owner = owner
        guarded = Locked(Guarded(description: row?.description ?? EntryDescription(), region: row?.region))
    }

    package var description: EntryDescription { guarded.withLock { $0.description } }

    package var stored: ByteRangeSet {
        let (region, volatile) = guarded.withLock { ($0.region, $0.volatile) }
        let kept = region.map { owner.stored(in: $0).shifted(by: -$0.lowerBound) } ?? ByteRangeSet()
        return volatile.map { kept.union($0.stored) } ?? kept
    }

    package var isPersistent: Bool {
        owner.isPersistent && guarded.withLock { !$0.isDiscarded && $0.volatile == nil }
    }

    package func refresh(_ range: ByteRange, isUrgent: Bool) async -> ByteRangeSet {
        if let region = guarded.withLock({ $0.region }) {
            let (start, isTooFar) = range.upperBound.addingReportingOverflow(region.lowerBound)
            let end = isTooFar ? region.upperBound : min(region.upperBound, start)
            if range.lowerBound < end - region.lowerBound {
                _ = await owner.refresh(region.lowerBound + range.lowerBound..<end, isUrgent: isUrgent)
            }
        }
        return stored
    }

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        let (region, volatile) = guarded.withLock { ($0.region, $0.volatile) }
        if let region, offset < region.count {
            let most = min(count, region.count - Int(offset))
            let bytes = try await owner.read(at: region.lowerBound + offset, count: most)
            if !bytes.isEmpty { return bytes }
        }
        return try await volatile?.read(at: offset, count: count) ?? []
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else {
            throw MediaError(.notCached, url.safeText, "bytes at an impossible offset can't be cached")
        }
        let region = await region(for: end)
        let isKept = guarded.withLock { !$0.isDiscarded }
        guard isKept, let region, end <= region.count else {
            let missing = stored
            for gap in missing.gaps(in: offset..<end) {
                let start = Int(gap.lowerBound - offset)
                try await volatile().write(Array(bytes[start..<start + gap.count]), at: gap.lowerBound)
            }
            return
        }
        try await owner.write(bytes, at: region.lowerBound + offset)
    }

    /// The region, which is reserved for the first write, and lengthened for one that ends at an `end` beyond
    /// it.
    private func region(for end: Int64) async -> ByteRange? {
        let (region, description, mayMake) = guarded.withLock { guarded in
            (guarded.region, guarded.description, !guarded.isDiscarded && guarded.volatile == nil)
        }
        guard mayMake, region.map({ $0.count < end }) ?? true else { return region }
        let count = description.length ?? max(likelyLength, end)
        let made = await owner.makePart(key, at: url.safeText, byteCount: count)
        return guarded.withLock { guarded in
            guard let made else { return guarded.region }
            // The owner limits commits by region, so the limit of the shorter one is lifted first.
            if let region { limit(region, to: nil) }
            guarded.region = made.region
            if let proven = guarded.proven { limit(made.region, to: proven) }
            record(guarded)
            return made.region
        }
    }

    /// Lets the owner commit the description.
    private func record(_ guarded: Guarded) {
        guard let region = guarded.region, !guarded.isDiscarded else { return }
        let row = PartRow(region: region, url: url.safeText, description: guarded.description)
        owner.changeParts { $0.described(row, as: key) }
    }

    private func limit(_ region: ByteRange, to proven: ByteRangeSet?) {
        let limited = proven?.shifted(by: region.lowerBound).intersection(ByteRangeSet(region))
        owner.changeParts { $0.limit(region, to: limited) }
    }

    private func volatile() async throws -> any ByteStore {
        if let volatile = guarded.withLock({ $0.volatile }) { return volatile }
        let fresh = try await owner.engine.volatile.open(url)
        return guarded.withLock { guarded in
            let volatile = guarded.volatile ?? fresh
            guarded.volatile = volatile
            return volatile
        }
    }

    package func describe(_ description: EntryDescription) {
        guarded.withLock { guarded in
            guard description != guarded.description else { return }
            guarded.description = description
            record(guarded)
        }
    }

    package func commit() async throws { try await owner.commit() }

    package func commitOnly(_ proven: ByteRangeSet?) {
        guarded.withLock { guarded in
            guarded.proven = proven
            if let region = guarded.region, !guarded.isDiscarded { limit(region, to: proven) }
        }
    }

    package func discard() async {
        let (region, isFirst) = guarded.withLock { guarded in
            defer { guarded.isDiscarded = true }
            return (guarded.region, !guarded.isDiscarded)
        }
        guard isFirst else { return }
        if let region { await owner.discardPart(key, at: region) }
        guard key.kind != .segments else { return }
        await owner.discard()
        owner.reportDiscarded()
    }

    package func close() async { await guarded.withLock { $0.volatile }?.close() }
}

extension ByteRangeSet {
    /// The set with `distance` added to all offsets, which may not overflow.
    fileprivate func shifted(by distance: Int64) -> ByteRangeSet {
        ByteRangeSet(
            ranges.map { range in
                let (upper, isTooFar) = range.upperBound.addingReportingOverflow(distance)
                return range.lowerBound + distance..<(isTooFar ? .max : upper)
            }
        )
    }
}
