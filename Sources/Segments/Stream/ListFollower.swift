import Media
import System

/// Knows which segment comes next: by the list of a recording, or by those of a live stream, which are read
/// again when all segments of the known one were opened. Only one task at a time asks for segments.
final class ListFollower: Sendable {
    private struct State {
        var lists: StreamLists
        /// How often in a row the list of a live stream could not be read again.
        var failedReloads = 0
    }

    /// After so many failed attempts in a row to read the list again, a live stream is given up.
    private static let mostFailedReloads = 8

    private let parts: SegmentParts
    private let readers: PartReaders
    private let subject: SafeText
    private let state: Locked<State>

    private init(_ lists: StreamLists, _ parts: SegmentParts, _ readers: PartReaders, subject: SafeText) {
        self.parts = parts
        self.readers = readers
        self.subject = subject
        state = Locked(State(lists: lists))
    }

    /// Reads the list that `list`, the reader of `location`, has opened, and the lists that it leads to.
    static func open(
        _ list: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        _ readers: PartReaders
    ) async throws -> ListFollower {
        var further: [any ResourceReader] = []
        func open(_ location: ResourceLocation) async throws -> any ResourceReader {
            let reader = try await parts.open(location)
            further.append(reader)
            return reader
        }
        do {
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
            for list in further { readers.count(list.report) }
            for list in further { await list.close() }
            return ListFollower(lists, parts, readers, subject: location.safeText)
        } catch {
            for reader in further { await reader.close() }
            throw error
        }
    }

    // MARK: Places

    var isLive: Bool { state.withLock { $0.lists.isLive } }

    /// The length of a recording.
    var duration: Duration? {
        guard case .recorded(let playlist) = state.withLock({ $0.lists.kind }) else { return nil }
        return playlist.duration
    }

    /// The segment of a recording that plays at `time`, and the time at which it begins.
    func place(at time: Duration) -> (number: Int, start: Duration) {
        guard case .recorded(let playlist) = state.withLock({ $0.lists.kind }),
            let number = playlist.index(at: time)
        else { return (0, .zero) }
        return (number, playlist.start(of: number))
    }

    // MARK: The next segment

    /// Segment `number` of a recording, or the next one of a live stream, for which this waits; `nil` at the
    /// end of the stream.
    func next(_ number: Int) async throws -> MediaSegment? {
        while true {
            let lists = state.withLock { $0.lists }
            switch lists.kind {
            case .recorded(let playlist): return try lists.recorded(number, of: playlist)
            case .live(var window):
                let step = window.next()
                switch step {
                case .load(let number):
                    // After a pause in the reading the list is too old to go by.
                    guard let due = window.clock.nextReload,
                        parts.clock.now >= due + window.clock.targetDuration * 2
                    else {
                        set(window)
                        return try lists.live(number, of: window)
                    }
                    try await reload(window)
                case .lost(let count):
                    set(window)
                    let cause = SafeText("\(count) segments were missed, and it goes on with what is left")
                    parts.onNotice(MediaError(.cut, subject, cause))
                case .reload: try await reload(window)
                case .end: return nil
                }
            }
        }
    }

    /// The segment that `next` has returned was opened.
    func advance() {
        state.withLock { state in
            guard case .live(var window) = state.lists.kind else { return }
            window.advance()
            state.lists.kind = .live(window)
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
            do {
                try await lists.reload(&window, by: reader, requestedAt: requestedAt)
                await finish(reader)
            } catch {
                await finish(reader)
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

    private func finish(_ reader: any ResourceReader) async {
        readers.count(reader.report)
        await reader.close()
    }
}
