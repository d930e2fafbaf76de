package import Media

/// The readers of one resource: where each reads, what it waits for, and what it wants besides.
package struct LoadReaders: Sendable {
    /// One listener of the resource.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: Int

        package init(_ value: Int) { self.value = value }

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    /// One wait of a reader. An action for an earlier wait must not end a later one.
    package struct WaitID: Hashable, Sendable {
        package var value: Int
    }

    /// How far ahead of a reader may be fetched.
    enum ReadAhead: Sendable, Equatable {
        case none
        case allowed(Int64)
        /// The reader is about to seek: nothing more begins, and its next read decides what ends.
        case withdrawn(Int64)

        /// `nil` if nothing is fetched ahead.
        var bytes: Int64? {
            switch self {
            case .none: nil
            case .allowed(let bytes), .withdrawn(let bytes): bytes
            }
        }
    }

    /// A request of a reader besides its reads.
    package enum Wish: Sendable {
        /// It plays at this rate, and is to be read ahead of. With 0 it is about to seek, perhaps not far: what is under
        /// way ahead of it goes on until its next read.
        case readAhead(bytesPerSecond: Double)
        /// With low priority its reads count as the head of the next track does.
        case lowPriority(Bool)
        case prefetch(ByteRange)
        /// All that is missing, once nobody wants anything else.
        case fill
    }

    struct Reader: Sendable {
        /// The last byte read or asked for; read-ahead counts from here.
        fileprivate(set) var offset: Int64 = 0
        fileprivate(set) var wait: WaitID?
        fileprivate(set) var readAhead = ReadAhead.none
        /// The mean rate of the music, as told when read-ahead was allowed.
        fileprivate(set) var bytesPerSecond = 0.0
        /// `true` if its reads count as the head of the next track does.
        fileprivate(set) var hasLowPriority = false
        fileprivate(set) var prefetches: [ByteRange] = []
        /// `true` if it wants all that is missing, once nobody wants anything else.
        fileprivate(set) var fills = false

        /// How urgent the byte is that it waits for; `nil` while it waits for none.
        var waitReason: FetchReason? {
            guard wait != nil else { return nil }
            return hasLowPriority ? .prefetch : .demand
        }
    }

    private var readers: [ID: Reader] = [:]
    private var lastWait = 0

    var isEmpty: Bool { readers.isEmpty }
    var count: Int { readers.count }
    var ids: [ID] { readers.keys.sorted() }
    /// The first to open comes first.
    var all: [Reader] { ids.compactMap { readers[$0] } }
    var isAnyWaiting: Bool { readers.values.contains { $0.wait != nil } }
    /// `true` if a read waits that nothing else may delay.
    var hasDemand: Bool { readers.values.contains { $0.waitReason == .demand } }
    /// The highest rate that any of them plays at.
    var bytesPerSecond: Double { readers.values.map(\.bytesPerSecond).max() ?? 0 }

    subscript(id: ID) -> Reader? { readers[id] }

    mutating func opened(_ id: ID) { readers[id] = Reader() }
    mutating func closed(_ id: ID) { readers[id] = nil }

    /// The reader reads at `offset`. If that is missing, it waits from now on.
    mutating func read(_ id: ID, at offset: Int64, isMissing: Bool) {
        guard var reader = readers[id] else { return }
        reader.offset = offset
        if case .withdrawn = reader.readAhead { reader.readAhead = .none }
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

    /// Ends every wait that is over by what `outlook` finds at its offset.
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

    /// Fails every wait for whose offset `error` returns one.
    mutating func failWaits(with error: (Int64) -> MediaError?) -> [LoadAction] {
        endWaits(finding: { error($0).map { .failed($0) } ?? .missing })
    }

    mutating func take(_ wish: Wish, of id: ID, _ settings: LoadSettings) {
        guard var reader = readers[id] else { return }
        switch wish {
        case .readAhead(let rate) where rate > 0:
            reader.readAhead = .allowed(settings.readAheadBytes(at: rate))
            reader.bytesPerSecond = rate
        case .readAhead:
            if case .allowed(let bytes) = reader.readAhead { reader.readAhead = .withdrawn(bytes) }
        case .lowPriority(let isLow): reader.hasLowPriority = isLow
        case .prefetch(let range): if !range.isEmpty { reader.prefetches.append(range) }
        case .fill: reader.fills = true
        }
        readers[id] = reader
    }
}
