import Media
import System

/// The state of the last session, and the saving of this one for the next.
///
/// A thread of its own writes the files. If two players run, the last one to write is remembered.
final class SessionMemory: Sendable {
    private struct State {
        var pace = SavePace()
        var places: ResumePlaces
        /// The newest snapshot from before the player ended.
        var latest: PlayerSnapshot?
        /// The queue as last written to the file.
        var writtenTracks: [Track]?
        var queueID: String
        var hasFailed = false
    }

    /// The state of the last session.
    let session: SavedSession
    let queue: SavedQueue
    /// The errors in its files.
    let problems: [MediaError]
    /// The lines typed after `:`, oldest first.
    let history: [String]

    private let folder: StateFolder
    private let origins: [String]
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "state")
    private let state: Locked<State>
    /// Called if a file cannot be written.
    private let listener = LateBound<@Sendable (MediaError) -> Void>()

    private static let (sessionName, queueName, historyName) = ("session", "queue", "history")

    /// Reads the files. With `--fresh`, only the history of typed lines is used.
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

    /// The index and position in the saved queue; `nil` if the saved session belongs to another queue.
    var place: (index: Int, position: Duration)? {
        guard let current = session.current, session.queueID == queue.id,
            queue.tracks.indices.contains(current)
        else { return nil }
        return (current, session.position)
    }

    /// The servers that may get the command line's secrets, in addition to its own sources.
    var trustedOrigins: [String] { session.origins }

    /// The position at which `track` was left.
    func resumePoint(of track: Track) -> Duration? {
        state.withLock { $0.places.position(of: track.location.savedText) }
    }

    /// Appends a line typed after `:` to the history.
    func remember(_ line: String) {
        thread.submit { [folder] in folder.append(line, to: Self.historyName) }
    }

    /// Saves the state of `player` from now on, and reports errors of the files to `notify`.
    func watch(_ player: any PlayerControl, notify: @escaping @Sendable (MediaError) -> Void) {
        for problem in problems { notify(problem) }
        listener.value = notify
        player.observe { [weak self] in self?.look(at: player.snapshot) }
    }

    private func look(at snapshot: PlayerSnapshot) {
        guard !snapshot.isOver else { return }
        let isDue = state.withLock { state in
            // If the sources have no track, the saved queue is left unchanged.
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

    /// Saves once more; returns when the files are on the disk.
    func finish() async {
        await withCheckedContinuation { continuation in
            thread.submit { [self] in
                save()
                continuation.resume()
            }
        }
        thread.stop()
    }

    /// Runs on the thread that writes the files.
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
                MediaError(.badState, SafeText(folder.path), "can't save the session: " + error.reason)
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
                SafeText("the \(name) of the last session"),
                "ignored, for " + reason + "; moved to " + SafeText(folder.path + "/" + name + ".bad")
            )
        )
        return nil
    }
}

extension SavedSession {
    /// Copies position, volume and modes from `snapshot`. A queue that was played to its end restarts,
    /// paused.
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

/// Decides when to save the session.
///
/// Used only when the player reports a change, so an idle player is never woken.
struct SavePace: Sendable {
    /// The time by which the saved position may lag behind after a power cut.
    static let interval = Duration.seconds(30)
    /// The shortest time between two writes, for keys that are held down.
    static let shortest = Duration.seconds(2)

    /// The part of a snapshot whose change is saved at once.
    struct Essence: Sendable, Equatable {
        var tracks: [Track]
        var current: Track.ID?
        var isPaused: Bool
        var volume: Int
        var repeatMode: RepeatMode
        var isShuffled: Bool
        var gainMode: GainMode
    }

    private var saved: Essence?
    private var savedAt = Duration.zero

    /// `true` if the session must be saved now; if so, it counts as saved.
    mutating func isDue(_ essence: Essence, isMoving: Bool, at now: Duration) -> Bool {
        let age = now - savedAt
        guard saved == nil || age >= Self.shortest else { return false }
        guard saved != essence || (isMoving && age >= Self.interval) else { return false }
        saved = essence
        savedAt = now
        return true
    }
}

extension SavePace.Essence {
    init(_ snapshot: PlayerSnapshot) {
        self.init(
            tracks: snapshot.tracks,
            current: snapshot.currentIndex.flatMap {
                snapshot.tracks.indices.contains($0) ? snapshot.tracks[$0].id : nil
            },
            isPaused: snapshot.state == .paused,
            volume: snapshot.volume,
            repeatMode: snapshot.repeatMode,
            isShuffled: snapshot.isShuffled,
            gainMode: snapshot.gainMode
        )
    }
}
