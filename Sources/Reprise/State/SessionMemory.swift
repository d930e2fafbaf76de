import Media
import System

/// What a session takes over from the last one, and leaves to the next.
///
/// Files are written on a thread of its own. Of two players the one that writes last is remembered.
final class SessionMemory: Sendable {
    private struct State {
        var pace = SavePace()
        var places: ResumePlaces
        /// The newest snapshot of a player that is not over.
        var latest: PlayerSnapshot?
        /// The queue that the file holds.
        var writtenTracks: [Track]?
        var queueID: String
        var hasFailed = false
    }

    /// What the last session left.
    let session: SavedSession
    let queue: SavedQueue
    /// What was wrong with its files.
    let problems: [MediaError]
    /// The lines that were typed after `:`, oldest first.
    let history: [String]

    private let folder: StateFolder
    private let origins: [String]
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "state")
    private let state: Locked<State>
    /// Hears of files that cannot be written.
    private let listener = LateBound<@Sendable (MediaError) -> Void>()

    private static let (sessionName, queueName, historyName) = ("session", "queue", "history")

    /// Reads what there is. With `--fresh` none of it counts but the history, which is nothing that plays.
    init(
        folder: StateFolder,
        options: Options,
        clock: any MonotonicClock
    ) {
        self.folder = folder
        self.clock = clock
        let isFresh = options.fresh
        var problems: [MediaError] = []
        let session =
            Self.read(Self.sessionName, folder, &problems) { text throws(StateLines.Refusal) in
                try SavedSession(parsing: text)
            } ?? SavedSession()
        let queue =
            Self.read(Self.queueName, folder, &problems) { text throws(StateLines.Refusal) in
                try SavedQueue(parsing: text)
            } ?? SavedQueue(id: "", tracks: [])
        self.problems = problems
        self.session = isFresh ? SavedSession() : session
        self.queue = isFresh ? SavedQueue(id: "", tracks: []) : queue
        let typed = options.sources.compactMap { WebURL($0)?.originText }
        origins = typed.isEmpty ? self.session.origins : typed
        state = Locked(
            State(
                places: isFresh ? ResumePlaces() : session.places,
                writtenTracks: queue.id.isEmpty ? nil : queue.tracks,
                queueID: queue.id
            )
        )
        history = ((try? folder.read(Self.historyName)) ?? "").split(separator: "\n").suffix(500).map(
            String.init
        )
    }

    /// Where the saved queue was left; nil where that is not known of it.
    var place: (index: Int, position: Duration)? {
        guard let current = session.current, session.queueID == queue.id,
            queue.tracks.indices.contains(current)
        else { return nil }
        return (current, session.position)
    }

    /// The servers that may be told the command line's secrets besides its own sources.
    var trustedOrigins: [String] { session.origins }

    /// Where `track` goes on that was left in its middle.
    func resumePoint(of track: Track) -> Duration? {
        state.withLock { $0.places.position(of: track.location.savedText) }
    }

    /// Writes a line of the `:` line down.
    func remember(_ line: String) {
        thread.submit { [folder] in folder.append(line, to: Self.historyName) }
    }

    /// Watches `player` from now on, and tells `notify` what is wrong with its files.
    func watch(_ player: any PlayerControl, notify: @escaping @Sendable (MediaError) -> Void) {
        for problem in problems { notify(problem) }
        listener.value = notify
        player.observe { [weak self] in self?.look(at: player.snapshot) }
    }

    private func look(at snapshot: PlayerSnapshot) {
        // What is known of a queue that is still being read would replace the one that was left.
        guard !snapshot.isOver, !snapshot.isIncomplete else { return }
        let isDue = state.withLock { state in
            // Sources that gave nothing leave what there was before.
            guard !snapshot.tracks.isEmpty || state.latest != nil else { return false }
            state.latest = snapshot
            let isHeard = snapshot.state == .playing || snapshot.state == .paused
            if isHeard, let index = snapshot.currentIndex, snapshot.tracks.indices.contains(index) {
                let location = snapshot.tracks[index].location.savedText
                state.places.heard(location, at: snapshot.position, of: snapshot.duration)
            }
            return state.pace.isDue(
                SavePace.Essence(snapshot),
                isMoving: snapshot.state == .playing,
                at: clock.now
            )
        }
        if isDue { thread.submit { [self] in save() } }
    }

    /// Writes the last of it and returns when the disk has it.
    func finish() async {
        await withCheckedContinuation { continuation in
            thread.submit { [self] in
                save()
                continuation.resume()
            }
        }
        thread.stop()
    }

    /// On the thread of the files.
    private func save() {
        let (snapshot, places, written, known) = state.withLock {
            ($0.latest, $0.places, $0.writtenTracks, $0.queueID)
        }
        guard let snapshot else { return }
        var session = SavedSession()
        session.queueID = known
        do throws(StateFolder.Failure) {
            if written != snapshot.tracks {
                let queue = SavedQueue(id: Self.newID(), tracks: snapshot.tracks)
                try folder.write(queue.text, to: Self.queueName)
                session.queueID = queue.id
                state.withLock { ($0.writtenTracks, $0.queueID) = (queue.tracks, queue.id) }
            }
            session.take(snapshot)
            session.places = places
            session.origins = origins
            try folder.write(session.text, to: Self.sessionName)
        } catch {
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            guard isFirst else { return }
            listener.value?(
                MediaError(.badState, SafeText(folder.path), "the session is not saved: " + error.reason)
            )
        }
    }

    private static func newID() -> String { String(UInt64.random(in: 0 ... .max), radix: 16) }

    private static func read<Value>(
        _ name: String,
        _ folder: StateFolder,
        _ problems: inout [MediaError],
        _ parse: (String) throws(StateLines.Refusal) -> Value
    ) -> Value? {
        let reason: SafeText
        do throws(StateFolder.Failure) {
            guard let text = try folder.read(name) else { return nil }
            do throws(StateLines.Refusal) {
                return try parse(text)
            } catch {
                reason = SafeText(error.reason)
            }
        } catch {
            reason = error.reason
        }
        folder.setAside(name)
        problems.append(
            MediaError(
                .badState,
                SafeText("the \(name) of last time"),
                "not taken up, for " + reason + "; it was set aside as "
                    + SafeText(folder.path + "/" + name + ".bad")
            )
        )
        return nil
    }
}

extension SavedSession {
    /// Where and how `snapshot` plays. A queue that was played to its end begins anew, when that is asked for.
    fileprivate mutating func take(_ snapshot: PlayerSnapshot) {
        let isAtEnd = snapshot.state == .ended
        current = isAtEnd ? (snapshot.tracks.isEmpty ? nil : 0) : snapshot.currentIndex
        position = isAtEnd ? .zero : snapshot.position
        isPaused = [.paused, .stopped, .ended].contains(snapshot.state)
        volume = snapshot.volume
        repeatMode = snapshot.repeatMode
        isShuffled = snapshot.isShuffled
        gainMode = snapshot.gainMode
    }
}

extension WebURL {
    /// Scheme, host and port.
    fileprivate var originText: String? { resolving("/")?.requestString }
}
