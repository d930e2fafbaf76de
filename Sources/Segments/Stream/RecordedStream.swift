import Media
import System

/// Knows the segments of a recording, and where they are today: their URLs may expire, and then its lists are
/// asked for again.
final class RecordedStream: Sendable {
    private struct State {
        var lists: RecordedLists
        /// The number of the segment that comes next.
        var next = 0
        var renewal = RecordingRenewal()
        /// The renewal of the lists that began last; one waits for the other.
        var renewing: Task<Void, any Error>?
    }

    /// The stream is another one than the cached one.
    struct Change: Error {}

    /// The bytes of a cached segment that are asked for again: a sample, for which nothing else is requested.
    private static let comparedByteCount: Int64 = 4 << 10

    private let location: ResourceLocation
    private let parts: SegmentParts
    private let readers: PartReaders
    private let state: Locked<State>

    private init(
        _ lists: RecordedLists,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        _ readers: PartReaders
    ) {
        self.location = location
        self.parts = parts
        self.readers = readers
        state = Locked(State(lists: lists))
        readers.keepsParts = true
    }

    /// The recording of `lists`, which were just read; if it `refreshes`, those of a cached one are asked for
    /// again. Throws `Change` if another stream is cached.
    static func open(
        _ lists: RecordedLists,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        _ readers: PartReaders,
        refreshes: Bool
    ) async throws -> RecordedStream {
        let known = readers.list.stream
        let stream = RecordedStream(lists, at: location, parts, readers)
        do {
            if let known, known.rendition != lists.table.rendition { throw Change() }
            try await stream.keep(lists, besides: [])
            readers.list.store(lists.table)
            if refreshes, known != nil { try await stream.refresh() }
            return stream
        } catch {
            await stream.close()
            throw error
        }
    }

    /// Caches the lists that were requested, and takes `lists`. The text of the playlist is then read from
    /// the cache, if it is there. Tasks that read the text of earlier lists have the readers
    /// `earlier`, which are closed last.
    private func keep(_ lists: RecordedLists, besides earlier: [any ResourceReader]) async throws {
        var lists = lists
        for list in lists.requested {
            try await parts.cache?.keep(.list(list.level), list.location, list.body, readers.list)
        }
        if lists.requested.last?.level == lists.level,
            let text = try await parts.cache?.openStored(.list(lists.level), lists.source, readers.list)
        {
            lists.text = text
            lists.opened.append(text)
        }
        lists.opened += earlier
        state.withLock { [lists] in $0.lists = lists }
    }

    /// Closes the readers of lists.
    func close() async {
        let renewing = state.withLock { $0.renewing.take() }
        renewing?.cancel()
        _ = try? await renewing?.value
        let opened = state.withLock { state in
            defer { state.lists.opened = [] }
            return state.lists.opened
        }
        for reader in opened { await reader.close() }
    }

    // MARK: Segments

    var duration: Duration { state.withLock { $0.lists.playlist.duration } }
    var startTime: Duration { state.withLock { $0.lists.startTime } }
    /// The number of segments.
    var count: Int { state.withLock { $0.lists.playlist.count } }

    func place(at time: Duration) -> (number: Int, time: Duration) {
        let playlist = state.withLock { $0.lists.playlist }
        return (playlist.index(at: time) ?? 0, min(max(.zero, time), playlist.duration))
    }

    /// Goes on at segment `number`.
    func move(to number: Int) { state.withLock { $0.next = number } }

    /// The number of the next segment.
    var nextNumber: Int { state.withLock { $0.next } }

    /// The next segment was opened.
    func advance() { state.withLock { $0.next += 1 } }

    /// Segment `number`, with its titles; `nil` behind the last one.
    func segment(_ number: Int) async throws -> StreamLists.Next? {
        let lists = state.withLock { $0.lists }
        guard let segment = try await lists.segment(number) else { return nil }
        return StreamLists.Next(number, segment, lists.playlist.titles)
    }

    // MARK: Lists that are asked for again

    /// Asks for the lists again, because a part of `segment`, which has this number, answers `error`: first
    /// for the playlist, then for the master playlist. Returns once they have other URLs for it. Throws
    /// `error` if they have none, and `.resourceChanged` if the stream is another one now.
    func renew(_ number: Int, after error: MediaError, of segment: MediaSegment) async throws {
        let task = state.withLock { state in
            let before = state.renewing
            let task = Task {
                _ = try? await before?.value
                try await self.renewNow(number, after: error, of: segment)
            }
            state.renewing = task
            return task
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func renewNow(_ number: Int, after error: MediaError, of segment: MediaSegment) async throws {
        var isOver = false
        while true {
            let lists = state.withLock { $0.lists }
            if try await lists.segment(number) != segment { return }
            guard !isOver, let step = state.withLock({ $0.renewal.next() }), step == .list || lists.level > 0
            else { throw error }
            do {
                try await request(step)
            } catch let failure as MediaError where failure.isGone {
                isOver = step == .master
            } catch is Change {
                let reader = try await parts.cache?.replace(location, true)
                await reader?.close()
                let cause: SafeText = "the stream on the server has changed; starting it anew"
                throw MediaError(.resourceChanged, location.safeText, cause)
            }
        }
    }

    /// A part was read: if another one is gone, the lists may be asked for again.
    func partWasRead() { state.withLock { $0.renewal = RecordingRenewal() } }

    /// Asks for the playlist again, and if it is gone, for the master playlist. Without an answer, the cached
    /// lists are as good as ever.
    private func refresh() async throws {
        do {
            try await request(.list)
        } catch let error as MediaError where error.isGone {
            // A change that the master shows counts, also if its list does not answer.
            if state.withLock({ $0.lists.level }) > 0 {
                do { try await request(.master) } catch is MediaError {}
            }
        } catch is MediaError {}
    }

    /// Asks for the lists again, and caches them. Throws `Change` if the segments need not be the cached
    /// ones.
    private func request(_ step: RecordingRenewal.Step) async throws {
        let old = state.withLock { $0.lists }
        let new: RecordedLists
        switch step {
        case .list:
            guard let lists = try await old.requestedAgain(parts, readers) else { throw Change() }
            new = lists
        case .master:
            guard
                case .recorded(let lists) = try await RecordedLists.read(at: location, parts, readers, .anew)
            else { throw Change() }
            new = lists
        }
        guard old.playlist.agrees(with: new.playlist), new.renditions == old.renditions,
            try await hasSameEnd(old, new)
        else { throw Change() }
        try await keep(new, besides: old.opened)
    }

    /// `true` if the last bytes of a cached segment are still the same; also if none is cached.
    private func hasSameEnd(_ old: RecordedLists, _ new: RecordedLists) async throws -> Bool {
        let cached = readers.list.streamContents?.segments ?? []
        let number = cached.lazy.joined().first { !old.playlist.isGap($0) }
        guard let number, let stored = try await old.segment(number),
            let asked = try await new.segment(number)
        else { return true }
        let part = try await readers.open(.segments(from: stored.resource), at: stored.location)
        let end = stored.range?.upperBound ?? part.reader.length ?? 0
        let tail = max(stored.range?.lowerBound ?? 0, end - Self.comparedByteCount)..<end
        let known = try? await ByteSlice(part.reader, tail)
            .allBytes(atMost: tail.count, of: location.safeText)
        await readers.close(part)
        guard !tail.isEmpty, let known else { return true }
        let reader = try await parts.open(asked.location)
        do {
            let bytes = try await ByteSlice(reader, tail)
                .allBytes(atMost: tail.count, of: location.safeText)
            readers.count(reader.report)
            await reader.close()
            return bytes == known
        } catch {
            readers.count(reader.report)
            await reader.close()
            throw error
        }
    }
}

/// Which lists of a recording are asked for again when a part is gone, each once. Pure.
struct RecordingRenewal: Sendable {
    enum Step: Sendable {
        case list
        case master
    }

    private var left: [Step] = [.list, .master]

    mutating func next() -> Step? { left.isEmpty ? nil : left.removeFirst() }
}
