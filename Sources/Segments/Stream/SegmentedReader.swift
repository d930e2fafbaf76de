package import Media
import System

/// The reader of a stream of segments (HLS): the lists, keys and segments behind the URL of one track.
///
/// A recording is cached in the entry of its list; see `StreamCache`. One task, the feeder, opens segments in
/// order: the one for which the decoder waits, and, once read-ahead is allowed, those after it, each after
/// the one before was loaded.
package final class SegmentedReader: ResourceReader, SegmentList {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private enum Lists {
        case recorded(RecordedStream)
        case live(ListFollower)
    }

    private struct State {
        var feed: SegmentFeed
        var feeder: Task<Void, Never>?
        /// The decoder's continuation, and the feeder's, while they wait.
        var decoder: Waiter?
        var idle: Waiter?
        /// How many segments of a live stream in a row could not be loaded.
        var lostInARow = 0
        /// `true` if the lists were read again because a segment was refused, and no other was loaded since.
        var hasRenewed = false
    }

    private let list: any ResourceReader
    private let location: ResourceLocation
    private let onNotice: @Sendable (MediaError) -> Void
    private let readers: PartReaders
    private let lists: Lists
    private let opener: SegmentOpener
    // Guards all mutable state. While it is held, no other code is called and no continuation resumed.
    private let state: Locked<State>

    /// After so many lost segments in a row, a live stream is given up.
    private static let mostLostInARow = 8
    /// The most bytes of a segment that are loaded ahead of the decoder.
    private static let mostLoadedAhead: Int64 = 64 << 20

    private init(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ lists: Lists,
        _ readers: PartReaders,
        _ parts: SegmentParts
    ) {
        self.list = list
        self.location = location
        self.readers = readers
        self.lists = lists
        onNotice = parts.onNotice
        opener = SegmentOpener(readers, decrypt: parts.decrypt, subject: location.safeText)
        state = Locked(State(feed: SegmentFeed(readAhead: parts.readAhead)))
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
                return SegmentedReader(list, at: location, .recorded(stream), readers, parts)
            case .live(let answers):
                let follower = try await ListFollower.open(list, at: location, answers, parts, readers)
                return SegmentedReader(list, at: location, .live(follower), readers, parts)
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

    private var isLive: Bool { if case .live = lists { true } else { false } }

    package var duration: Duration? { if case .recorded(let stream) = lists { stream.duration } else { nil } }

    package var startTime: Duration {
        switch lists {
        case .recorded(let stream): stream.startTime
        case .live(let follower): follower.startTime
        }
    }

    package func place(at time: Duration) -> (number: Int, time: Duration) {
        switch lists {
        case .recorded(let stream): stream.place(at: time)
        case .live(let follower): follower.place(at: time)
        }
    }

    package func passedOver(_ number: Int, because cause: SafeText) {
        let cause = "a segment is damaged and was passed over (" + cause + ")"
        onNotice(MediaError(.decodingFailed, location.safeText, cause))
    }

    package func segment(_ number: Int) async throws -> Segment? {
        while true {
            try Task.checkCancellation()
            let (found, idle) = state.withLock { state in
                (state.feed.look(for: number), state.idle.take())
            }
            idle?.resume()
            switch found {
            case .segment(let opened, let isLowPriority):
                if !isLowPriority { opened.part?.reader.setPriority(isLow: false) }
                return opened.segment
            case .end: return nil
            case .failure(let error): throw error
            case .restart: restart(at: number)
            case .missing: await waitForFeeder()
            }
        }
    }

    /// Waits until the feeder has opened a segment, has failed, or the task is cancelled.
    private func waitForFeeder() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || !state.feed.isWaiting { return true }
                    state.decoder = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.decoder.take() }?.resume()
        }
    }

    /// Begins to feed with segment `number`.
    private func restart(at number: Int) {
        let (feeder, idle) = state.withLock { state in
            let old = state.feeder
            if let run = state.feed.restart(at: number) {
                state.feeder = Task {
                    await old?.value
                    switch self.lists {
                    case .recorded(let stream): stream.move(to: number)
                    case .live(let follower): follower.move(to: number)
                    }
                    await self.feed(run)
                }
            }
            return (old, state.idle.take())
        }
        feeder?.cancel()
        idle?.resume()
    }

    // MARK: The feeder

    private func feed(_ run: SegmentFeed.Run) async {
        while !Task.isCancelled {
            await closeRetired()
            do {
                switch state.withLock({ $0.feed.work(of: run) }) {
                case .stop: return
                case .wait:
                    await waitForWork(of: run)
                    continue
                // One segment after the other, so that the next one to be heard gets the whole line.
                case .openAfterLoading(let last): try await load(last)
                case .open: break
                }
                let opened = try await openNext()
                receive(.success(opened), of: run)
            } catch {
                receive(.failure(error), of: run)
            }
        }
    }

    private func waitForWork(of run: SegmentFeed.Run) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.feed.hasWork(of: run) { return true }
                    state.idle = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.idle.take() }?.resume()
        }
    }

    private func receive(_ result: Result<OpenedSegment?, any Error>, of run: SegmentFeed.Run) {
        let decoder = state.withLock { state in
            state.feed.receive(result, of: run)
            return state.decoder.take()
        }
        decoder?.resume()
    }

    /// Loads the rest of a segment that was opened last, by a reader of its own, since the decoder may read
    /// it too. The decoder reports errors.
    private func load(_ opened: OpenedSegment) async throws {
        guard let resource = opened.part?.resource else { return }
        let part = try await readers.open(resource, isLowPriority: true)
        let bytes = ByteSlice(part.reader, opened.range)
        let isStored = bytes.length.map { bytes.isStored(0..<$0) } ?? false
        var offset: Int64 = 0
        while !isStored, offset < Self.mostLoadedAhead,
            let more = try? await bytes.read(at: offset, count: ByteSlice.requestByteCount), !more.isEmpty
        {
            offset += Int64(more.count)
        }
        await readers.close(part)
        try Task.checkCancellation()
    }

    /// Opens the segment after the opened ones; `nil` at the end of the stream.
    private func openNext() async throws -> OpenedSegment? {
        switch lists {
        case .recorded(let stream):
            let isLow = state.withLock { $0.feed.opensAtLowPriority }
            guard let next = try await stream.next() else { return nil }
            let opened = try await open(next.number, of: stream, isLowPriority: isLow)
            stream.advance()
            return opened
        case .live(let follower): return try await openNext(of: follower)
        }
    }

    // MARK: A recording

    /// Opens segment `number`; `nil` behind the last one. If the server has a part of it no longer under its
    /// URL, the lists may have another one.
    private func open(_ number: Int, of stream: RecordedStream, isLowPriority: Bool) async throws
        -> OpenedSegment?
    {
        while let next = try await stream.segment(number) {
            do {
                var opened = try await opener.open(next.segment, number: number, isLowPriority: isLowPriority)
                opened.segment.titles = next.titles
                guard opened.part != nil else { return opened }
                let current = Locked(next.segment)
                opened.segment.bytes = ReplaceableSource(opened.segment.bytes) { [weak self] error in
                    guard let error else {
                        stream.partWasRead()
                        return nil
                    }
                    return try await self?.renewed(number, of: stream, after: error, current)
                }
                return opened
            } catch let error as MediaError where error.isGone {
                try await stream.renew(number, after: error, of: next.segment)
            }
        }
        return nil
    }

    /// Segment `number` under the URL of lists that are asked for again after `error`; `segment` is where it
    /// was. `nil` if `error` is another one than an expired URL has.
    private func renewed(
        _ number: Int,
        of stream: RecordedStream,
        after error: MediaError,
        _ segment: borrowing Locked<MediaSegment>
    ) async throws -> ReplaceableSource.Remedy? {
        guard error.isGone else { return nil }
        try await stream.renew(number, after: error, of: segment.withLock { $0 })
        guard let new = try await stream.segment(number)?.segment else { return nil }
        segment.withLock { $0 = new }
        let opened = try await opener.open(new, number: number, isLowPriority: false)
        if let part = opened.part { state.withLock { $0.feed.replacePart(of: number, by: part) } }
        return .other(opened.segment.bytes)
    }

    package func isStored(segments numbers: Range<Int>) -> Bool {
        list.streamContents?.segments.contains { $0.clamped(to: numbers) == numbers } ?? false
    }

    package func withStored<Value>(_ number: Int, _ body: (Segment) async throws -> Value) async throws
        -> Value?
    {
        guard case .recorded(let stream) = lists, isStored(segments: number..<number + 1),
            let opened = try await open(number, of: stream, isLowPriority: true)
        else { return nil }
        do {
            let value = try await body(opened.segment)
            await close(opened)
            return value
        } catch {
            await close(opened)
            throw error
        }
    }

    package func loadAll(progressed: () -> Void) async throws {
        guard case .recorded(let stream) = lists else { return }
        var failure: MediaError?
        // Looked at once: it takes as long as the list is. What else is cached meanwhile is only read.
        let cached = RangeSet(list.streamContents?.segments ?? [])
        for number in 0..<stream.count where !cached.contains(number) {
            do {
                guard let opened = try await open(number, of: stream, isLowPriority: true) else { return }
                do {
                    try await load(opened.segment.bytes, progressed: progressed)
                    await close(opened)
                } catch {
                    await close(opened)
                    throw error
                }
            } catch let error as MediaError where error.isGone {
                // The others may be there.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func load(_ bytes: any ByteSource, progressed: () -> Void) async throws {
        var offset: Int64 = 0
        while case let more = try await bytes.read(at: offset, count: ByteSlice.requestByteCount),
            !more.isEmpty
        {
            offset += Int64(more.count)
            progressed()
        }
    }

    private func close(_ opened: OpenedSegment) async {
        if let part = opened.part { await readers.close(part) }
        await closeRetired()
    }

    // MARK: A live stream

    private func openNext(of follower: ListFollower) async throws -> OpenedSegment? {
        while true {
            guard let next = try await follower.next() else { return nil }
            let isLow = state.withLock { $0.feed.opensAtLowPriority }
            let number = next.number
            do {
                var opened = try await opener.open(next.segment, number: number, isLowPriority: isLow)
                follower.advance()
                opened.segment.titles = next.titles
                if opened.part != nil {
                    let bytes = ReplaceableSource(opened.segment.bytes) { [weak self] error in
                        await self?.remedy(for: error, of: number, at: next.segment.location, follower)
                    }
                    opened.segment.bytes = bytes
                }
                return opened
            } catch let error as MediaError where mayRenew(after: error) {
                // The URL of its key may have expired.
                _ = try await follower.renewed(number)
            }
        }
    }

    /// Segment `number` of a live stream was read, or `error` was thrown.
    private func remedy(
        for error: MediaError?,
        of number: Int,
        at location: ResourceLocation,
        _ follower: ListFollower
    ) async -> ReplaceableSource.Remedy? {
        guard let error else {
            state.withLock { state in
                state.lostInARow = 0
                state.hasRenewed = false
            }
            return nil
        }
        if mayRenew(after: error), let other = try? await reopened(number, notAt: location, follower) {
            return .other(other)
        }
        let isPassedOver = state.withLock { state in
            state.lostInARow += 1
            // Until something was loaded, it is not the segment that is missing, but the stream.
            return state.feed.hasLoaded && state.lostInARow < Self.mostLostInARow
        }
        guard isPassedOver, error.code != .offline else { return nil }
        let cause = "a segment is gone and was passed over (" + error.cause + ")"
        onNotice(MediaError(.cut, self.location.safeText, cause))
        return .passOver
    }

    /// `true` if the lists may be read again, since `error` may only mean that their URLs have expired. Once
    /// for all segments until one was loaded.
    private func mayRenew(after error: MediaError) -> Bool {
        error.isRefusal && !state.withLock { exchange(&$0.hasRenewed, with: true) }
    }

    /// The bytes of segment `number` at the place that the newest lists name; `nil` if they name none, or
    /// only `location`.
    private func reopened(
        _ number: Int,
        notAt location: ResourceLocation,
        _ follower: ListFollower
    ) async throws -> (any ByteSource)? {
        guard let segment = try await follower.renewed(number), segment.location != location else {
            return nil
        }
        let opened = try await opener.open(segment, number: number, isLowPriority: false)
        guard let part = opened.part else { return nil }
        state.withLock { $0.feed.replacePart(of: number, by: part) }
        return opened.segment.bytes
    }

    // MARK: Closing

    private func closeRetired() async {
        for part in state.withLock({ $0.feed.takeRetired() }) { await readers.close(part) }
    }

    package func close() async {
        let (feeder, decoder, idle) = state.withLock { state in
            state.feed.close()
            return (state.feeder, state.decoder.take(), state.idle.take())
        }
        feeder?.cancel()
        decoder?.resume()
        idle?.resume()
        await closeRetired()
        await feeder?.value
        await closeRetired()
        if case .recorded(let stream) = lists { await stream.close() }
        await closeRetired()
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
        readers.add(state.withLock { $0.feed.parts }, to: &report)
        let contents = list.streamContents
        report.isCached = !isLive && contents != nil && own.isCached
        report.length = contents?.length
        report.stored = contents?.stored ?? ByteRangeSet()
        report.live = live
        return report
    }

    package var live: LiveReport? { isLive ? LiveReport() : nil }

    package func allowReadAhead(bytesPerSecond: Double) {
        let idle = state.withLock { state in
            state.feed.readsAhead = bytesPerSecond > 0
            return state.idle.take()
        }
        idle?.resume()
    }

    package func setPriority(isLow: Bool) {
        let readers = state.withLock { state in
            state.feed.isLowPriority = isLow
            return state.feed.opened.prefix(1).compactMap(\.part?.reader)
        }
        for reader in readers { reader.setPriority(isLow: isLow) }
    }

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
    package func store(_ facts: TrackFacts) { if !isLive { list.store(facts) } }
}
