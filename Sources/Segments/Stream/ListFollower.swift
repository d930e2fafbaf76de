import Media
import System

/// Knows which segment of a live stream comes next: by its list, which is read again when all segments of the
/// known one were opened.
final class ListFollower: Sendable {
    private struct State {
        var lists: StreamLists
        /// How often in a row the list of a live stream could not be read again.
        var failedReloads = 0
    }

    /// After so many failed attempts in a row to read the list again, a live stream is given up.
    private static let mostFailedReloads = 8

    /// The location of the first list.
    private let location: ResourceLocation
    private let parts: SegmentParts
    private let readers: PartReaders
    private let state: Locked<State>

    private init(
        _ lists: StreamLists,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        _ readers: PartReaders
    ) {
        self.location = location
        self.parts = parts
        self.readers = readers
        state = Locked(State(lists: lists))
    }

    /// Reads the list that `list`, the reader of `location`, has opened, and the lists that it leads to, of
    /// which `answers` were received just now.
    static func open(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ answers: [ResourceLocation: ListAnswer] = [:],
        _ parts: SegmentParts,
        _ readers: PartReaders
    ) async throws -> ListFollower {
        let first = try await answer(of: list, at: location, parts)
        let found = try await FoundPlaylist(from: first, parts) { location in
            if let answer = answers[location] { return answer }
            let reader = try await parts.open(location)
            do {
                let answer = try await answer(of: reader, at: location, parts)
                readers.count(reader.report)
                await reader.close()
                return answer
            } catch {
                await reader.close()
                throw error
            }
        }
        let follower = ListFollower(StreamLists(found), at: location, parts, readers)
        // Without this, the next opening would play the window of today.
        await list.reject()
        if found.identity == nil, list.report.requestCount == 0 { try await follower.renew() }
        return follower
    }

    private static func answer(
        of reader: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts
    ) async throws -> ListAnswer {
        let text = try await reader.allBytes(atMost: MediaPlaylist.mostBytes, of: location.safeText)
        // Known only once the list was answered.
        let report = reader.report
        return ListAnswer(
            text: text,
            place: RecordedLists.place(of: report.redirectedTo, from: location),
            source: location,
            // A reader may have been held for long.
            requestedAt: report.answeredAt ?? parts.clock.now
        )
    }

    // MARK: Places

    var startTime: Duration { state.withLock { $0.lists.startTime } }

    func place(at time: Duration) -> (number: Int, time: Duration) {
        state.withLock { $0.lists.place(at: time) }
    }

    // MARK: Segments; only one task at a time asks for the next one

    /// Goes on at segment `number`.
    func move(to number: Int) { state.withLock { $0.lists.move(to: number) } }

    /// The next segment, for which this waits; `nil` at the end of the stream.
    func next() async throws -> StreamLists.Next? {
        while true {
            let now = parts.clock.now
            switch try state.withLock({ try $0.lists.next(at: now) }) {
            case .segment(let next): return next
            case .lost(let count):
                let cause = SafeText("\(count) segments were missed, and it goes on with what is left")
                parts.onNotice(MediaError(.cut, location.safeText, cause))
            case .reload(let time):
                try await parts.clock.sleep(until: time)
                try await reload()
            case .end: return nil
            }
        }
    }

    /// The segment that `next` has returned was opened.
    func advance() { state.withLock { $0.lists.advance() } }

    /// Segment `number` of a live stream as the lists name it now, which are read again from the first one
    /// on, since the URLs of the others may have expired; `nil` if they do not name it.
    func renewed(_ number: Int) async throws -> MediaSegment? {
        try await renew()
        return try state.withLock { try $0.lists.segment(number) }
    }

    // MARK: Reading lists again

    /// Reads the list of a live stream again. If it is refused, its URL may have expired.
    private func reload() async throws {
        let lists = state.withLock { $0.lists }
        let requestedAt = parts.clock.now
        do {
            do {
                if let answer = try await request(lists.source, unless: lists.validators) {
                    let found = try FoundPlaylist(answer)
                    state.withLock { $0.lists.receive(found) }
                } else {
                    state.withLock { $0.lists.receiveUnchanged(requestedAt: requestedAt) }
                }
            } catch let error as MediaError where error.isRefusal && lists.source != location {
                try await renew()
            }
            state.withLock { $0.failedReloads = 0 }
        } catch {
            try Task.checkCancellation()
            // Without a network, the answer says nothing about the stream.
            let isOffline = (error as? MediaError)?.code == .offline
            let failures = state.withLock { state in
                state.failedReloads = isOffline ? 0 : state.failedReloads + 1
                state.lists.receiveUnchanged(requestedAt: requestedAt)
                return state.failedReloads
            }
            guard failures < Self.mostFailedReloads else { throw error }
        }
    }

    /// Reads all lists again, from the first one on.
    private func renew() async throws {
        let identity = state.withLock { $0.lists.identity }
        guard let first = try await request(location) else { return }
        let found = try await FoundPlaylist(from: first, parts, like: identity) { location in
            guard let answer = try await self.request(location) else {
                throw MediaError(.badAnswer, location.safeText, "the server sends no list")
            }
            return answer
        }
        state.withLock { $0.lists.receive(found) }
    }

    /// Requests the list at `location`; `nil` if it is still that of `validators`.
    private func request(
        _ location: ResourceLocation,
        unless validators: Validators = Validators()
    ) async throws -> ListAnswer? {
        let requestedAt = parts.clock.now
        let body = try await parts.request(location, validators)
        readers.count(body)
        guard let text = body.bytes else { return nil }
        let place = RecordedLists.place(of: body.answer.redirectedTo, from: location)
        return ListAnswer(
            text: text,
            place: place,
            source: place,
            validators: body.answer.validators,
            requestedAt: requestedAt
        )
    }
}

extension MediaError {
    /// `true` if a server refuses a request for good, as with 401, 403, 404 and 410.
    var isRefusal: Bool { code == .httpStatus && isLasting }
}
