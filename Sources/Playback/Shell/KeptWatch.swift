import Media
import System

/// Asks in the background how much of the tracks is here, for the snapshots to show.
///
/// A look at a long queue goes in batches and never holds anybody up; the result is replaced whole, so that
/// taking it costs the same however long the queue is.
final class KeptWatch: Sendable {
    private struct State {
        /// Tracks still to be asked for, as they came: taking a long queue costs no copy.
        var waiting: [ArraySlice<Track>] = []
        /// Those that are asked for whether they were before or not.
        var again: [Track] = []
        var result: [Track.ID: Availability] = [:]
        var isAsking = false
        var isStopped = false
        var task: Task<Void, Never>?

        /// The next tracks in line, at most `count`; nil at the end.
        mutating func nextPage(of count: Int) -> ArraySlice<Track>? {
            guard let first = waiting.first else { return nil }
            let page = first.prefix(count)
            waiting[0] = first.dropFirst(count)
            if waiting[0].isEmpty { waiting.removeFirst() }
            return page
        }
    }

    /// How many tracks are asked for at a time.
    static let batch = 500

    private let kept: any KeptMusic
    private let changed: @Sendable () -> Void
    private let state = Locked(State())
    /// Tracks that were asked for. Of the asking task alone, of which there is one at a time.
    private let seen = Locked(Set<Track.ID>())

    /// `changed` is called from any task when there is something new.
    init(kept: any KeptMusic, changed: @escaping @Sendable () -> Void) {
        self.kept = kept
        self.changed = changed
    }

    var value: [Track.ID: Availability] { state.withLock { $0.result } }

    /// Looks at those of `tracks` that were not looked at yet. Never waits.
    func look(atNewOf tracks: [Track]) {
        ask { $0.waiting.append(tracks[...]) }
    }

    /// Looks at `track` again: something of it came. Never waits.
    func look(again track: Track) {
        guard track.location.url != nil else { return }
        ask { $0.again.append(track) }
    }

    /// Ends what is under way.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
    }

    private func ask(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard !state.isAsking, !state.isStopped else { return }
            state.isAsking = true
            state.task = Task(priority: .utility) { await self.askOn() }
        }
    }

    private func askOn() async {
        var result = state.withLock { $0.result }
        var batchCount = 0
        var isChanged = false
        while let tracks = nextBatch() {
            let found = await kept.availability(of: tracks.compactMap(\.location.url))
            guard !Task.isCancelled else { return }
            for (track, availability) in zip(tracks, found) where result[track.id] != availability {
                result[track.id] = availability
                isChanged = true
            }
            batchCount += 1
            // While many are asked for, each showing of the result means a copy of it.
            guard isChanged, batchCount == 1 || batchCount % 20 == 0 else { continue }
            isChanged = false
            show(result)
        }
        if isChanged { show(result) }
        endOrGoOn()
    }

    private func show(_ result: [Track.ID: Availability]) {
        state.withLock { $0.result = result }
        changed()
    }

    /// What was asked for since the last batch is not forgotten.
    private func endOrGoOn() {
        state.withLock { state in
            state.isAsking = false
            state.task = nil
            guard !state.waiting.isEmpty || !state.again.isEmpty, !state.isStopped else { return }
            state.isAsking = true
            state.task = Task(priority: .utility) { await self.askOn() }
        }
    }

    /// The next tracks of the web to ask for; nil when there are none.
    private func nextBatch() -> [Track]? {
        let again = state.withLock { state in
            defer { state.again = [] }
            return state.again
        }
        if !again.isEmpty { return again }
        while let page = state.withLock({ $0.nextPage(of: Self.batch) }) {
            let new = seen.withLock { seen in
                page.filter { $0.location.url != nil && seen.insert($0.id).inserted }
            }
            if !new.isEmpty { return new }
        }
        return nil
    }
}

extension ResourceLocation {
    /// Nil for a local file.
    var url: WebURL? {
        if case .web(let url) = self { url } else { nil }
    }
}
