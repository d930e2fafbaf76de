package import Media

/// Reads what is stored of a resource, without the network.
package final class StoredReader: ResourceReader {
    private let store: any ByteStore
    private let subject: SafeText

    /// `subject` names the resource in errors.
    package init(_ store: any ByteStore, subject: SafeText) {
        self.store = store
        self.subject = subject
    }

    /// A part of the stream whose list this reads; `nil` if the store has no parts.
    package func part(_ name: PartName, at location: ResourceLocation) async -> StoredReader? {
        guard let url = location.url else { return nil }
        let part = await store.part(name, at: url, likelyLength: 0, isNew: false)
        return part.map { StoredReader($0, subject: url.safeText) }
    }

    package var length: Int64? { store.description.length }

    /// `true` if no byte is missing.
    package var isWhole: Bool { length.map { store.stored.covers(0..<$0) } ?? false }

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        let bytes = try await store.read(at: offset, count: count)
        guard bytes.isEmpty, offset < length ?? .max else { return bytes }
        throw MediaError(.notCached, subject, "a part of it is not cached")
    }

    package func isStored(_ range: ByteRange) -> Bool { store.stored.covers(range) }

    package var report: LoadReport {
        var report = LoadReport()
        report.length = length
        report.redirectedTo = store.description.redirectedTo
        report.stored = store.stored
        return report
    }

    package var stream: StreamTable? { store.stream }
    package var streamContents: StreamContents? { store.streamContents }

    package func allowReadAhead(bytesPerSecond: Double) {}
    package func fill() {}
    package func reject() async {}
    package func store(_ value: [UInt8], as fact: DerivedFact) {}
    package func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    package func store(_ facts: TrackFacts) {}
    package func close() async { await store.close() }
}
