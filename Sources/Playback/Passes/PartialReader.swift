import Media

/// A part of an open resource, for a decoder that must request nothing else: reads of other bytes fail.
struct PartialReader: ResourceReader {
    enum Part {
        /// This many bytes from the start, also those that are not cached.
        case first(Int64)
        /// The cached bytes.
        case stored
    }

    struct Missing: Error {}

    let whole: any ResourceReader
    private let part: Part

    init(_ whole: any ResourceReader, _ part: Part) {
        self.whole = whole
        self.part = part
    }

    var length: Int64? { whole.length }
    var report: LoadReport { whole.report }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        if let length, offset >= length { return [] }
        switch part {
        case .first(let end):
            guard offset < end else { throw Missing() }
            return try await whole.read(at: offset, count: Int(min(Int64(count), end - offset)))
        case .stored:
            let bytes = try await whole.readStored(at: offset, count: count)
            guard !bytes.isEmpty else { throw Missing() }
            return bytes
        }
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await whole.readStored(at: offset, count: count)
    }

    func willRead(_ range: ByteRange) {}
    var arrivesInOrder: Bool { whole.arrivesInOrder }
    func isStored(_ range: ByteRange) -> Bool { whole.isStored(range) }
    func allowReadAhead(bytesPerSecond: Double) {}
    func prefetch(_ range: ByteRange) {}
    func fill() {}
    func reject() async { await whole.reject() }
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { whole.stored(fact) }
    func store(_ facts: TrackFacts) {}
    func close() async {}
}
