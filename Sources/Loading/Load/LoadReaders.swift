package import Media

/// The readers of one resource: the position of each, the byte it waits for, and its other requests.
package struct LoadReaders: Sendable {
    /// Identifies one reader of the resource.
    package struct ID: Hashable, Sendable {
        package var value: Int

        package init(_ value: Int) { self.value = value }
    }

    /// One wait of a reader. Each wait has its own number, so that an action for an earlier wait cannot end a
    /// later one.
    package struct WaitID: Hashable, Sendable {
        package var value: Int
    }

    /// A request of a reader other than a read.
    package enum Wish: Sendable {
        /// It plays at this rate, and wants read-ahead. A rate of 0 means that it is about to seek. The
        /// target may be near, so fetches ahead of it continue until its next read.
        case readAhead(bytesPerSecond: Double)
        /// With low priority, its reads are as urgent as the head of the next track, or as `fill` if it
        /// fills.
        case lowPriority(Bool)
        /// Its reads are for tags, and the least urgent of all.
        case tags
        /// Its next reads go through this range: a request for the first bytes should include the others.
        case reading(ByteRange)
        case prefetch(ByteRange)
        /// Fetch all missing bytes once there is nothing more urgent.
        case fill
    }

    struct Reader: Sendable {
        /// The offset of the last byte read, of the byte that it waits for, or of the next one, where it has
        /// announced that; read-ahead counts from here.
        fileprivate(set) var offset: Int64 = 0
        fileprivate(set) var wait: WaitID?
        /// The length of its read-ahead in bytes; `nil` if it wants none.
        fileprivate(set) var readAhead: Int64?
        /// `true` if it is about to seek: no more read-ahead begins for it, and its next read decides which
        /// fetches end.
        fileprivate(set) var isAboutToSeek = false
        /// The mean rate of the music, passed when read-ahead was allowed.
        fileprivate(set) var bytesPerSecond = 0.0
        /// `true` if its reads are less urgent than those of the current track.
        fileprivate(set) var hasLowPriority = false
        /// `true` if its reads are the least urgent of all.
        fileprivate(set) var isForTags = false
        /// The range that its next reads go through.
        fileprivate(set) var reading: ByteRange = 0..<0
        fileprivate(set) var prefetches: [ByteRange] = []
        /// `true` if it wants all missing bytes once there is nothing more urgent.
        fileprivate(set) var fills = false

        /// The range that it has announced, if it is within it.
        var announced: ByteRange { reading.contains(offset) ? reading : 0..<0 }

        /// The urgency of the byte that it waits for; `nil` while it does not wait.
        var waitReason: Urgency? {
            guard wait != nil else { return nil }
            if isForTags { return .tags }
            return hasLowPriority ? (fills ? .fill : .prefetch) : .demand
        }
    }

    private var readers: [ID: Reader] = [:]
    private var lastWait = 0

    var isEmpty: Bool { readers.isEmpty }
    var count: Int { readers.count }
    var ids: [ID] { readers.keys.sorted { $0.value < $1.value } }
    /// All readers, in the order of opening.
    var all: [Reader] { ids.compactMap { readers[$0] } }
    var isAnyWaiting: Bool { readers.values.contains { $0.wait != nil } }
    /// `true` if any reader is more than a download in the background, which waits for no server.
    var arePlaying: Bool { readers.values.contains { !$0.fills || !$0.hasLowPriority } }
    /// `true` if any waiting read has normal priority; such reads take precedence over everything else.
    var hasDemand: Bool { readers.values.contains { $0.waitReason == .demand } }
    /// The highest rate that any of them plays at.
    var bytesPerSecond: Double { readers.values.map(\.bytesPerSecond).max() ?? 0 }

    subscript(id: ID) -> Reader? { readers[id] }

    mutating func opened(_ id: ID) { readers[id] = Reader() }
    mutating func closed(_ id: ID) { readers[id] = nil }

    /// The reader reads at `offset`. If that byte is missing, the reader waits from now on.
    mutating func read(_ id: ID, at offset: Int64, isMissing: Bool) {
        guard var reader = readers[id] else { return }
        reader.offset = offset
        if reader.isAboutToSeek { reader.readAhead = nil }
        reader.isAboutToSeek = false
        reader.wait = nil
        if isMissing {
            lastWait += 1
            reader.wait = WaitID(value: lastWait)
        }
        readers[id] = reader
    }

    /// Ends the wait of the reader; `nil` if it was not waiting.
    mutating func endWait(_ id: ID) -> WaitID? {
        defer { readers[id]?.wait = nil }
        return readers[id]?.wait
    }

    /// Ends every wait for whose offset `outlook` returns anything but `missing`.
    mutating func endWaits(finding outlook: (Int64) -> ReadOutlook) -> [LoadAction] {
        ids.compactMap { id in
            guard let reader = readers[id], let wait = reader.wait else { return nil }
            let found = outlook(reader.offset)
            guard found != .missing else { return nil }
            readers[id]?.wait = nil
            if case .failed(let error) = found { return .failRead(wait, error) }
            return .wakeRead(wait)
        }
    }

    /// Fails every wait for whose offset `error` returns an error.
    mutating func failWaits(with error: (Int64) -> MediaError?) -> [LoadAction] {
        endWaits(finding: { error($0).map { .failed($0) } ?? .missing })
    }

    mutating func receive(_ wish: Wish, of id: ID, _ settings: LoadSettings) {
        guard var reader = readers[id] else { return }
        switch wish {
        case .readAhead(let rate) where rate > 0:
            reader.readAhead = settings.readAheadBytes(at: rate)
            reader.isAboutToSeek = false
            reader.bytesPerSecond = rate
        case .readAhead: reader.isAboutToSeek = true
        case .lowPriority(let isLow): reader.hasLowPriority = isLow
        case .tags: reader.isForTags = true
        case .reading(let range):
            reader.reading = range
            if reader.wait == nil { reader.offset = range.lowerBound }
        case .prefetch(let range): if !range.isEmpty { reader.prefetches.append(range) }
        case .fill: reader.fills = true
        }
        readers[id] = reader
    }
}
