import Media
import System

/// The state of the last session, and the saving of this one for the next.
///
/// A thread of its own writes the files. If two players run, the last one to write is remembered.
final class SessionMemory: Sendable {
    private struct State {
        var pace = SavePace()
        var places: ResumePlaces
        /// The places of all sessions, which a fresh session keeps and does not use; `nil` otherwise.
        var kept: ResumePlaces?
        /// A fresh session saves nothing until it has played for this long.
        var trial: TrialTime?
        var episodes: EpisodeRecords
        /// The newest state from before the player ended.
        var latest: PlayerSnapshot?
        /// The queue in its file; `nil` if there is none.
        var written: SavedQueue?
        var hasFailed = false

        mutating func changePlaces(_ change: (inout ResumePlaces) -> Void) {
            change(&places)
            if var all = kept {
                change(&all)
                kept = all
            }
        }
    }

    let last: LastSession
    /// The errors in the files of the last session.
    let problems: [MediaError]
    /// The lines typed after `:`, oldest first.
    let history: [String]
    /// The servers that may get the command line's secrets: those of this session, or else of the last one.
    let trustedOrigins: [String]

    private let folder: StateFolder
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "state")
    private let state: Locked<State>
    /// Called if a file cannot be written.
    private let listener = LateBound<@Sendable (MediaError) -> Void>()

    private static let sessionName = "session"
    private static let queueName = "queue"
    private static let historyName = "history"

    /// Reads the files. With `--fresh`, only the history of typed lines is used, and the others stay as they
    /// are until the session has played for a minute.
    init(folder: StateFolder, options: Options, clock: any MonotonicClock) {
        self.folder = folder
        self.clock = clock
        var problems: [MediaError] = []
        let session = Self.read(Self.sessionName, folder, &problems, SavedSession.init(parsing:))
        let queue = Self.read(Self.queueName, folder, &problems, SavedQueue.init(parsing:))
        // These are no part of a session: `--fresh` does not forget them.
        let episodes = Self.read(EpisodeRecords.fileName, folder, &problems) { EpisodeRecords(parsing: $0) }
        self.problems = problems
        last =
            options.fresh
            ? LastSession() : LastSession(queue: queue ?? SavedQueue(), session: session ?? SavedSession())
        let typed = options.sources.compactMap { WebURL($0)?.resolving("/")?.requestString }
        trustedOrigins = typed.isEmpty ? last.session.origins : typed
        let known = episodes ?? EpisodeRecords()
        let places = session?.places ?? ResumePlaces()
        state = Locked(
            State(
                places: last.session.places,
                kept: options.fresh ? places : nil,
                trial: options.fresh ? TrialTime() : nil,
                episodes: known,
                written: queue
            )
        )
        history = ((try? folder.read(Self.historyName)) ?? "").split(separator: "\n").suffix(500).map(
            String.init
        )
        if known.isWordy {
            thread.submit {
                try? folder.rewrite(EpisodeRecords.fileName) { EpisodeRecords(parsing: $0).text }
            }
        }
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
        let (part, newURL) = state.withLock { state -> (SavePace.Part?, String?) in
            let heard = snapshot.state == .playing || snapshot.state == .paused ? snapshot.currentTrack : nil
            var newURL: String?
            // The looked-up availability lags behind the track that is playing.
            if let heard, let episode = heard.episode, snapshot.load.isCached, !snapshot.load.stored.isEmpty {
                newURL = state.episodes.isCached(episode, at: heard.location.savedText)
            }
            if let isOver = state.trial?.isOver(isPlaying: snapshot.state == .playing, at: clock.now) {
                guard isOver else { return (nil, newURL) }
                state.trial = nil
            }
            // If the sources have no track, the saved queue is left unchanged.
            guard !snapshot.tracks.isEmpty || state.latest != nil else { return (nil, newURL) }
            let session = SavedSession(snapshot)
            state.latest = snapshot
            if let heard {
                state.changePlaces {
                    $0.heard(
                        heard.placeKey,
                        at: snapshot.position,
                        of: snapshot.duration,
                        isEpisode: heard.episode != nil
                    )
                }
            }
            let isMoving = snapshot.state == .playing
            return (state.pace.due(snapshot, session, isMoving: isMoving, at: clock.now), newURL)
        }
        if let newURL { thread.submit { [folder] in folder.append(newURL, to: EpisodeRecords.fileName) } }
        if let part { thread.submit { [self] in save(part) } }
    }

    /// Saves once more; returns when the files are on the disk.
    func finish() async {
        await thread.run { self.save(.all) }
        thread.stop()
    }

    /// Runs on the thread that writes the files.
    private func save(_ part: SavePace.Part) {
        let (latest, places, written) = state.withLock { ($0.latest, $0.kept ?? $0.places, $0.written) }
        guard let latest else { return }
        rememberURLs(of: latest)
        do throws(StateError) {
            var queue = written ?? SavedQueue()
            // Both share their parts with the snapshots, so that a queue that has not changed is not
            // compared.
            if written?.tracks != latest.tracks || (part == .all && written?.facts != latest.learned) {
                queue = SavedQueue(
                    id: String(UInt64.random(in: 0 ... .max), radix: 16),
                    tracks: latest.tracks,
                    facts: latest.learned
                )
                try folder.write(queue.text, to: Self.queueName)
                state.withLock { [queue] in $0.written = queue }
            }
            var session = SavedSession(latest)
            session.queueID = queue.id
            session.places = places
            session.origins = trustedOrigins
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

    /// Remembers the URLs under which episodes are cached, in case their feed names others later.
    private func rememberURLs(of latest: PlayerSnapshot) {
        let lines = state.withLock { state in
            var lines: [String] = []
            for track in latest.tracks {
                guard let episode = track.episode, latest.availability[track.id]?.storedBytes ?? 0 > 0 else {
                    continue
                }
                if let line = state.episodes.isCached(episode, at: track.location.savedText) {
                    lines.append(line)
                }
            }
            return lines
        }
        if !lines.isEmpty { folder.append(lines.joined(separator: "\n"), to: EpisodeRecords.fileName) }
    }

    /// Reads and parses a file. A file that can't be used is renamed, and its error is added to `problems`.
    private static func read<Value>(
        _ name: String,
        _ folder: StateFolder,
        _ problems: inout [MediaError],
        _ parse: (String) throws(StateError) -> Value
    ) -> Value? {
        do throws(StateError) {
            guard let text = try folder.read(name) else { return nil }
            return try parse(text)
        } catch {
            folder.setAside(name)
            let place = SafeText(folder.path + "/" + name + ".bad")
            problems.append(
                MediaError(
                    .badState,
                    SafeText("the \(name) of the last session"),
                    "ignored, for " + error.reason + "; moved to " + place
                )
            )
            return nil
        }
    }
}

extension SessionMemory: ListeningMemory {
    func resumePoint(of track: Track) -> Duration? {
        state.withLock { $0.places.position(of: track.placeKey) }
    }

    /// The present records of episodes.
    var records: EpisodeRecords { state.withLock { $0.episodes } }

    func isPlayed(_ episode: Episode) -> Bool { state.withLock { $0.episodes.isPlayed(episode) } }

    /// Also forgets the positions of the episodes: each starts from its beginning the next time.
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode]) {
        let lines = state.withLock { state in
            for episode in episodes { state.changePlaces { $0.remove(episode.key) } }
            return episodes.compactMap { state.episodes.setPlayed(isPlayed, $0) }
        }
        guard !lines.isEmpty else { return }
        thread.submit { [folder] in folder.append(lines.joined(separator: "\n"), to: EpisodeRecords.fileName)
        }
    }
}

/// The time that a fresh session has played, after which it replaces the last one.
struct TrialTime: Sendable {
    static let limit = Duration.seconds(60)

    private var played = Duration.zero
    private var playingSince: Duration?

    /// `true` as soon as the session has played for `limit` in all.
    mutating func isOver(isPlaying: Bool, at now: Duration) -> Bool {
        if let playingSince { played += now - playingSince }
        playingSince = isPlaying ? now : nil
        return played >= Self.limit
    }
}

/// Decides when to save the session.
///
/// Used only when the player reports a change, so an idle player is never woken.
struct SavePace: Sendable {
    enum Part: Sendable {
        /// The session. The queue, with the tags and durations learned of its tracks, is saved only if its
        /// tracks have changed.
        case session
        case all
    }

    /// The time by which the saved position, and the learned tags and durations, may lag behind after a power
    /// cut. The latter are in the file of the queue, which is rewritten whole.
    static let interval = Duration.seconds(30)
    /// The shortest time between two writes, for keys that are held down.
    static let shortest = Duration.seconds(2)

    private var saved: (tracks: [Track], session: SavedSession)?
    private var savedAt = Duration.zero
    private var learned: [Track.ID: TrackFacts] = [:]
    private var learnedSavedAt = Duration.zero
    /// The position at the last call, and the time of that call.
    private var seen: (position: Duration, time: Duration)?
    /// `true` if the position has jumped since the last save.
    private var hasJumped = false

    /// The part of the session that must be saved now, which then counts as saved; `nil` if none. A change of
    /// the queue, the volume or the modes, or a seek, is due once `shortest` has passed since the last save;
    /// learned tags and durations, and the position while it moves, are due every `interval`.
    mutating func due(
        _ player: PlayerSnapshot,
        _ session: SavedSession,
        isMoving: Bool,
        at now: Duration
    ) -> Part? {
        noteJump(to: session.position, at: now)
        let age = now - savedAt
        guard saved == nil || age >= Self.shortest else { return nil }
        var session = session
        session.position = .zero
        let isSame = saved.map { $0.tracks == player.tracks && $0.session == session } ?? false
        let savesLearned =
            saved == nil || (now - learnedSavedAt >= Self.interval && learned != player.learned)
        guard !isSame || hasJumped || savesLearned || (isMoving && age >= Self.interval) else { return nil }
        saved = (player.tracks, session)
        savedAt = now
        hasJumped = false
        guard savesLearned else { return .session }
        learned = player.learned
        learnedSavedAt = now
        return .all
    }

    /// Finds seeks: playing alone moves the position as fast as the clock, or slower; corrections are shorter
    /// than 2 s.
    private mutating func noteJump(to position: Duration, at now: Duration) {
        if let seen {
            let playable = now - seen.time + .seconds(2)
            if !(seen.position - .seconds(2)...seen.position + playable).contains(position) {
                hasJumped = true
            }
        }
        seen = (position, now)
    }
}
