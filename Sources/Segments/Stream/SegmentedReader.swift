package import Media
import System

/// The reader of a stream of segments (HLS): the lists, keys and segments behind the URL of one track.
///
/// A recording is cached in the entry of its list; see `StreamCache`.
package final class SegmentedReader: ResourceReader, SegmentList {
    private let list: any ResourceReader
    private let location: ResourceLocation
    private let onNotice: @Sendable (MediaError) -> Void
    private let readers: PartReaders
    private let source: any SegmentSource
    private let feeder: SegmentFeeder

    private init(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ source: any SegmentSource,
        _ readers: PartReaders,
        _ parts: SegmentParts
    ) {
        self.list = list
        self.location = location
        self.readers = readers
        self.source = source
        onNotice = parts.onNotice
        feeder = SegmentFeeder(source, readers, readAhead: parts.readAhead)
    }

    /// Reads the list that `list`, the reader of `location`, has opened, and the lists that it leads to. The
    /// reader of the stream takes the place of `list`, and closes it.
    ///
    /// If it `refreshes`, the lists of a cached recording are asked for again.
    package static func open(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        refreshes: Bool = false
    ) async throws -> SegmentedReader {
        try await open(list, at: location, parts, refreshes: refreshes, .cached)
    }

    private static func open(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        refreshes: Bool,
        _ way: RecordedLists.Way
    ) async throws -> SegmentedReader {
        let readers = PartReaders(list, parts)
        let opener = SegmentOpener(readers, decrypt: parts.decrypt, subject: location.safeText)
        do {
            switch try await RecordedLists.read(at: location, parts, readers, way) {
            case .recorded(let lists):
                let stream = try await RecordedStream.open(
                    lists,
                    at: location,
                    parts,
                    readers,
                    refreshes: refreshes
                )
                let source = RecordedSegments(stream: stream, opener: opener, readers: readers)
                return SegmentedReader(list, at: location, source, readers, parts)
            case .live(let answers):
                let follower = try await ListFollower.open(list, at: location, answers, parts, readers)
                let source = LiveSegments(
                    follower,
                    opener,
                    subject: location.safeText,
                    onNotice: parts.onNotice
                )
                return SegmentedReader(list, at: location, source, readers, parts)
            }
        } catch let other as RecordedLists.OtherRendition {
            guard let cache = parts.cache else { throw CancellationError() }
            let next = try await cache.openRendition(other.rendition, location)
            return try await open(next, insteadOf: list, at: location, parts, refreshes: refreshes, .known)
        } catch is RecordedStream.Change {
            guard let cache = parts.cache else { throw CancellationError() }
            let fresh = try await cache.replace(location, refreshes)
            return try await open(fresh, insteadOf: list, at: location, parts, refreshes: false, .cached)
        }
    }

    /// Like `open`, with a list that takes the place of `list`, which is closed then.
    private static func open(
        _ next: any ResourceReader,
        insteadOf list: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        refreshes: Bool,
        _ way: RecordedLists.Way
    ) async throws -> SegmentedReader {
        do {
            let reader = try await open(next, at: location, parts, refreshes: refreshes, way)
            await list.close()
            return reader
        } catch {
            await next.close()
            throw error
        }
    }

    // MARK: Segments

    /// `nil` for a live stream.
    private var recording: RecordedSegments? { source as? RecordedSegments }

    package var duration: Duration? { recording?.stream.duration }
    package var startTime: Duration { source.startTime }
    package func place(at time: Duration) -> (number: Int, time: Duration) { source.place(at: time) }
    package func segment(_ number: Int) async throws -> Segment? { try await feeder.segment(number) }

    package func passedOver(_ number: Int, because cause: SafeText) {
        let cause = "a segment is damaged and was passed over (" + cause + ")"
        onNotice(MediaError(.decodingFailed, location.safeText, cause))
    }

    package func isStored(segments numbers: Range<Int>) -> Bool {
        list.streamContents?.segments.contains { $0.clamped(to: numbers) == numbers } ?? false
    }

    package func withStored<Value>(_ number: Int, _ body: (Segment) async throws -> Value) async throws
        -> Value?
    {
        guard let recording, isStored(segments: number..<number + 1) else { return nil }
        return try await recording.with(number, of: feeder, body)
    }

    package func loadAll(progressed: () -> Void) async throws {
        // Looked up once, since it takes as long as the list is. What else is cached meanwhile is only read.
        let cached = RangeSet(list.streamContents?.segments ?? [])
        try await recording?.loadAll(besides: cached, of: feeder, progressed: progressed)
    }

    package func close() async {
        await feeder.close()
        await list.close()
    }

    // MARK: The reader of the track

    package var report: LoadReport {
        let own = list.report
        var report = LoadReport()
        report.contentType = own.contentType
        report.redirectedTo = own.redirectedTo
        report.fetchedBytes = own.fetchedBytes
        report.requestCount = own.requestCount
        report.cachedBytes = own.cachedBytes
        report.readBytes = own.readBytes
        report.bytesPerSecond = own.bytesPerSecond
        readers.add(feeder.parts, to: &report)
        let contents = list.streamContents
        report.isCached = recording != nil && contents != nil && own.isCached
        report.length = contents?.length
        report.stored = contents?.stored ?? ByteRangeSet()
        report.live = live
        return report
    }

    package var live: LiveReport? { recording == nil ? LiveReport() : nil }
    package func allowReadAhead(bytesPerSecond: Double) { feeder.allowReadAhead(bytesPerSecond > 0) }
    package func setPriority(isLow: Bool) { feeder.setPriority(isLow: isLow) }
    package func reject() async { await list.reject() }

    // Decoders read the segments: as one file, these only have a length.
    package var length: Int64? { list.streamContents?.length }
    package func read(at offset: Int64, count: Int) async throws -> [UInt8] { [] }
    package func isStored(_ range: ByteRange) -> Bool {
        list.streamContents?.stored.covers(range) ?? false
    }

    /// Does nothing: see `loadAll`.
    package func fill() {}
    package func store(_ value: [UInt8], as fact: DerivedFact) {}
    package func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    package func store(_ facts: TrackFacts) { if recording != nil { list.store(facts) } }
}
