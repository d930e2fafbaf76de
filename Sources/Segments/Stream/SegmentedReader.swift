package import Media
import System

/// The reader of a stream of segments (HLS): the lists, keys and segments behind the URL of one track.
///
/// Nothing is cached yet. One task, the feeder, opens segments in order: the one for which the decoder waits,
/// and, once read-ahead is allowed, those after it, each after the one before was loaded. It also reads the
/// list of a live stream again when all segments of the known one were opened.
package final class SegmentedReader: ResourceReader, SegmentList {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var lists: StreamLists
        var feed: SegmentFeed
        var feeder: Task<Void, Never>?
        /// The decoder's continuation, and the feeder's, while they wait.
        var decoder: Waiter?
        var idle: Waiter?
        /// The number of open readers of each location.
        var uses: [ResourceLocation: Int] = [:]
        /// How often in a row the list of a live stream could not be read again.
        var failedReloads = 0
        /// How many segments of a live stream in a row could not be loaded.
        var lostInARow = 0
        /// The totals of closed readers.
        var fetchedBytes: Int64 = 0
        var requestCount = 0
        var keys: [ResourceLocation: [UInt8]] = [:]
        var sections: [(number: Int, section: InitializationSection, bytes: HeldSection)] = []
        var sectionCount = 0
    }

    private let list: any ResourceReader
    private let location: ResourceLocation
    private let parts: SegmentParts
    // Guards all mutable state. While it is held, no other code is called and no continuation resumed.
    private let state: Locked<State>

    /// The most keys and initialisation sections that are held; streams change them rarely.
    private static let mostHeld = 32
    private static let longestSection = 1 << 20
    /// After so many failed attempts in a row to read the list again, a live stream is given up.
    private static let mostFailedReloads = 8
    /// After so many lost segments in a row, too.
    private static let mostLostInARow = 8
    /// The most bytes of a segment that are loaded ahead of the decoder.
    private static let mostLoadedAhead: Int64 = 64 << 20

    private init(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ lists: StreamLists,
        _ parts: SegmentParts
    ) {
        self.list = list
        self.location = location
        self.parts = parts
        state = Locked(State(lists: lists, feed: SegmentFeed(readAhead: parts.readAhead)))
    }

    /// Reads the list that `list`, the reader of `location`, has opened, and the lists that it leads to. The
    /// reader of the stream takes the place of `list`, and closes it.
    package static func open(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts
    ) async throws -> SegmentedReader {
        var further: [any ResourceReader] = []
        do {
            func open(_ location: ResourceLocation) async throws -> any ResourceReader {
                let reader = try await parts.open(location)
                further.append(reader)
                return reader
            }
            var lists = try await StreamLists.read(list, at: location, parts, open: open)
            if case .live = lists.kind {
                // Without this, the next opening would play the window of today.
                await list.reject()
                if further.isEmpty, list.report.requestCount == 0 {
                    let anew = try await parts.openAnew(location)
                    further.append(anew)
                    lists = try await StreamLists.read(anew, at: location, parts, open: open)
                }
            }
            let reader = SegmentedReader(list, at: location, lists, parts)
            for list in further { reader.count(list.report) }
            for list in further { await list.close() }
            return reader
        } catch {
            for reader in further { await reader.close() }
            throw error
        }
    }

    // MARK: Segments

    package var duration: Duration? {
        guard case .recorded(let playlist) = state.withLock({ $0.lists.kind }) else { return nil }
        return playlist.duration
    }

    package func place(at time: Duration) -> (number: Int, start: Duration) {
        guard case .recorded(let playlist) = state.withLock({ $0.lists.kind }),
            let number = playlist.index(at: time)
        else { return (0, .zero) }
        return (number, playlist.start(of: number))
    }

    package func segment(_ number: Int) async throws -> Segment? {
        while true {
            try Task.checkCancellation()
            let (found, idle) = state.withLock { state in
                (state.feed.look(for: number, isLive: state.lists.isLive), state.idle.take())
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
        guard let location = opened.part?.location else { return }
        let part = try await openPart(location)
        part.reader.setPriority(isLow: true)
        let bytes = ByteSlice(part.reader, opened.range)
        var offset: Int64 = 0
        while offset < Self.mostLoadedAhead,
            let more = try? await bytes.read(at: offset, count: ByteSlice.requestByteCount), !more.isEmpty
        {
            offset += Int64(more.count)
        }
        await retire(part)
        try Task.checkCancellation()
    }

    /// Opens the segment after the opened ones; `nil` at the end of the stream.
    private func openNext() async throws -> OpenedSegment? {
        while true {
            let (lists, number) = state.withLock { ($0.lists, $0.feed.next) }
            switch lists.kind {
            case .recorded(let playlist):
                guard let segment = try lists.recorded(number, of: playlist) else { return nil }
                return try await open(segment)
            case .live(var window):
                let step = window.next()
                switch step {
                case .load(let number):
                    // After a pause in the reading the list is too old to go by.
                    if let due = window.clock.nextReload,
                        parts.clock.now >= due + window.clock.targetDuration * 2
                    {
                        try await reload(window)
                        continue
                    }
                    let opened = try await open(try lists.live(number, of: window))
                    window.advance()
                    set(window)
                    return opened
                case .lost(let count):
                    set(window)
                    let cause = SafeText("\(count) segments were missed, and it goes on with what is left")
                    parts.onNotice(MediaError(.cut, location.safeText, cause))
                case .reload: try await reload(window)
                case .end: return nil
                }
            }
        }
    }

    private func set(_ window: LiveWindow) { state.withLock { $0.lists.kind = .live(window) } }

    /// Reads the list of a live stream again, when its clock allows that.
    private func reload(_ window: LiveWindow) async throws {
        if let time = window.clock.nextReload { try await parts.clock.sleep(until: time) }
        let requestedAt = parts.clock.now
        var lists = state.withLock { $0.lists }
        var window = window
        var failures = 0
        do {
            let reader = try await parts.openAnew(lists.source)
            let part = StreamPart(location: lists.source, reader: reader)
            do {
                try await lists.reload(&window, by: reader, requestedAt: requestedAt)
                await finish(part)
            } catch {
                await finish(part)
                throw error
            }
        } catch {
            try Task.checkCancellation()
            // Without a network, the answer says nothing about the stream.
            let isOffline = (error as? MediaError)?.code == .offline
            failures = state.withLock { $0.failedReloads } + (isOffline ? 0 : 1)
            guard failures < Self.mostFailedReloads else { throw error }
            window.receiveUnchanged(requestedAt: requestedAt)
            lists.kind = .live(window)
        }
        state.withLock { [lists] state in
            state.lists = lists
            state.failedReloads = failures
        }
    }

    private func open(_ segment: MediaSegment) async throws -> OpenedSegment {
        guard !segment.isGap else {
            var gap = Segment(
                HeldSection([]),
                lasting: segment.duration,
                discontinuity: Int(clamping: segment.discontinuity)
            )
            gap.isGap = true
            return OpenedSegment(segment: gap)
        }
        let part = try await openPart(segment.location)
        do {
            let section = try await section(segment.section)
            var bytes: any ByteSource = ByteSlice(part.reader, segment.range)
            if let key = segment.key { bytes = try await decrypted(bytes, by: key) }
            // Until something was loaded, it is not the segment that is missing, but the stream.
            if state.withLock({ $0.lists.isLive && $0.feed.hasLoaded }) {
                bytes = PassedOver(bytes) { [weak self] error in self?.passesOver(error) ?? false }
            }
            let made = Segment(
                bytes,
                lasting: segment.duration,
                discontinuity: Int(clamping: segment.discontinuity),
                initialisation: section
            )
            return OpenedSegment(segment: made, range: segment.range, part: part)
        } catch {
            await retire(part)
            throw error
        }
    }

    /// A segment of a live stream was read, or `error` was thrown: `true` if it is passed over.
    private func passesOver(_ error: MediaError?) -> Bool {
        let lost = state.withLock { state in
            state.lostInARow = error == nil ? 0 : state.lostInARow + 1
            return state.lostInARow
        }
        guard let error, error.code != .offline, lost < Self.mostLostInARow else { return false }
        let cause = "a segment is gone and was passed over (" + error.cause + ")"
        parts.onNotice(MediaError(.cut, location.safeText, cause))
        return true
    }

    private func decrypted(_ bytes: any ByteSource, by key: SegmentKey) async throws -> any ByteSource {
        let secret: [UInt8]
        if let held = state.withLock({ $0.keys[key.location] }) {
            secret = held
        } else {
            secret = try await whole(key.location, nil, atMost: Self.mostHeld)
            guard secret.count == Int(DecryptedSource.blockByteCount) else {
                let cause: SafeText = "the key of this encrypted stream is damaged – try again later"
                throw MediaError(.badAnswer, location.safeText, cause)
            }
            state.withLock { state in
                if state.keys.count >= Self.mostHeld { state.keys = [:] }
                state.keys[key.location] = secret
            }
        }
        return DecryptedSource(
            bytes,
            key: secret,
            vector: key.initializationVector,
            decrypt: parts.decrypt
        )
    }

    /// The number and bytes of an initialisation section, which are read once.
    private func section(_ section: InitializationSection?) async throws -> (
        number: Int, bytes: any ByteSource
    )? {
        guard let section else { return nil }
        func held() -> (Int, any ByteSource)? {
            state.withLock { state in
                state.sections.first { $0.section == section }.map { ($0.number, $0.bytes) }
            }
        }
        if let held = held() { return held }
        var bytes = try await whole(section.location, section.range, atMost: Self.longestSection)
        if let key = section.key {
            let source = try await decrypted(HeldSection(bytes), by: key)
            bytes = try await source.allBytes(atMost: Self.longestSection, of: location.safeText)
        }
        state.withLock { [bytes] state in
            if state.sections.count == Self.mostHeld { state.sections.removeFirst() }
            state.sections.append((state.sectionCount, section, HeldSection(bytes)))
            state.sectionCount += 1
        }
        return held()
    }

    /// All bytes of a short resource.
    private func whole(_ place: ResourceLocation, _ range: ByteRange?, atMost most: Int) async throws
        -> [UInt8]
    {
        let part = try await openPart(place)
        do {
            let bytes = try await ByteSlice(part.reader, range).allBytes(atMost: most, of: location.safeText)
            await retire(part)
            return bytes
        } catch {
            await retire(part)
            throw error
        }
    }

    // MARK: Closing

    private func openPart(_ location: ResourceLocation) async throws -> StreamPart {
        let reader = try await parts.open(location)
        let isLow = state.withLock { state in
            state.uses[location, default: 0] += 1
            return state.feed.isLowPriority || !state.feed.isWaiting
        }
        reader.setPriority(isLow: isLow)
        return StreamPart(location: location, reader: reader)
    }

    /// Closes the reader of `part`. The last reader of a location adds what was fetched to the totals.
    private func retire(_ part: StreamPart) async {
        let isLast = state.withLock { state in
            state.uses[part.location, default: 1] -= 1
            guard state.uses[part.location] == 0 else { return false }
            state.uses[part.location] = nil
            return true
        }
        if isLast { await finish(part) } else { await part.reader.close() }
    }

    private func finish(_ part: StreamPart) async {
        count(part.reader.report)
        await part.reader.close()
    }

    private func count(_ report: LoadReport) {
        state.withLock { state in
            state.fetchedBytes += report.fetchedBytes
            state.requestCount += report.requestCount
        }
    }

    private func closeRetired() async {
        for part in state.withLock({ $0.feed.takeRetired() }) { await retire(part) }
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
        await list.close()
    }

    // MARK: The reader of the track

    package var report: LoadReport {
        let state = state.withLock { $0 }
        var locations: Set<ResourceLocation> = []
        let reports = state.feed.parts
            .filter { locations.insert($0.location).inserted }.map(\.reader.report)
        let own = list.report
        var report = LoadReport()
        report.contentType = own.contentType
        report.redirectedTo = own.redirectedTo
        report.fetchedBytes = own.fetchedBytes + state.fetchedBytes + reports.map(\.fetchedBytes).reduce(0, +)
        report.requestCount = own.requestCount + state.requestCount + reports.map(\.requestCount).reduce(0, +)
        report.bytesPerSecond = reports.compactMap(\.bytesPerSecond).last ?? own.bytesPerSecond
        report.wait = reports.compactMap(\.wait).first
        report.isCached = false
        if state.lists.isLive {
            report.isSeekable = false
            report.live = LiveReport()
        }
        return report
    }

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

    // The music has no offsets of its own: its bytes are those of the segments.
    package var length: Int64? { nil }
    package func read(at offset: Int64, count: Int) async throws -> [UInt8] { [] }
    package func isStored(_ range: ByteRange) -> Bool { false }

    // Does nothing yet: streams of segments are not cached.
    package func fill() {}
    package func store(_ value: [UInt8], as fact: DerivedFact) {}
    package func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    package func store(_ facts: TrackFacts) {}
}
