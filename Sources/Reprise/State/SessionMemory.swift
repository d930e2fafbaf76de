import Media
import System

/// The state of the last session, and the saving of this one for the next.
///
/// A thread of its own writes the files. If two players run, the last one to write is remembered.
final class SessionMemory: Sendable {
    private struct State {
        var pace = SavePace()
        var places: ResumePlaces
        var episodes: EpisodeRecords
        /// The newest state from before the player ended.
        var latest: Latest?
        /// The queue in its file; `nil` if there is none.
        var written: SavedQueue?
        var hasFailed = false
    }

    private struct Latest {
        var tracks: [Track]
        var session: SavedSession
        var availability: [Track.ID: Availability]
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

    private static let (sessionName, queueName, historyName) = ("session", "queue", "history")
    private static let episodesName = "episodes"

    /// Reads the files. With `--fresh`, only the history of typed lines is used.
    init(folder: StateFolder, options: Options, clock: any MonotonicClock) {
        self.folder = folder
        self.clock = clock
        var problems: [MediaError] = []
        let session = Self.read(Self.sessionName, folder, &problems, SavedSession.init(parsing:))
        let queue = Self.read(Self.queueName, folder, &problems, SavedQueue.init(parsing:))
        // These are no part of a session: `--fresh` does not forget them.
        let episodes = Self.read(Self.episodesName, folder, &problems) { EpisodeRecords(parsing: $0) }
        self.problems = problems
        last =
            options.fresh
            ? LastSession() : LastSession(queue: queue ?? SavedQueue(), session: session ?? SavedSession())
        let typed = options.sources.compactMap { WebURL($0)?.resolving("/")?.requestString }
        trustedOrigins = typed.isEmpty ? last.session.origins : typed
        let known = episodes ?? EpisodeRecords()
        state = Locked(State(places: last.session.places, episodes: known, written: queue))
        history = ((try? folder.read(Self.historyName)) ?? "").split(separator: "\n").suffix(500).map(
            String.init
        )
        if known.isWordy {
            thread.submit {
                try? folder.rewrite(Self.episodesName) { EpisodeRecords(parsing: $0).text }
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
        let (isDue, newURL) = state.withLock { state -> (Bool, String?) in
            // If the sources have no track, the saved queue is left unchanged.
            guard !snapshot.tracks.isEmpty || state.latest != nil else { return (false, nil) }
            let session = SavedSession(snapshot)
            state.latest = Latest(
                tracks: snapshot.tracks,
                session: session,
                availability: snapshot.availability
            )
            var newURL: String?
            let isHeard = snapshot.state == .playing || snapshot.state == .paused
            if isHeard, let index = snapshot.currentIndex, snapshot.tracks.indices.contains(index) {
                let track = snapshot.tracks[index]
                state.places.heard(
                    track.placeKey,
                    at: snapshot.position,
                    of: snapshot.duration,
                    isEpisode: track.episode != nil
                )
                // The looked-up availability lags behind the track that is playing.
                if let episode = track.episode, snapshot.load.isCached, !snapshot.load.stored.isEmpty {
                    newURL = state.episodes.isCached(episode, at: track.location.savedText)
                }
            }
            let isMoving = snapshot.state == .playing
            return (state.pace.isDue(snapshot.tracks, session, isMoving: isMoving, at: clock.now), newURL)
        }
        if let newURL { thread.submit { [folder] in folder.append(newURL, to: Self.episodesName) } }
        if isDue { thread.submit { [self] in save() } }
    }

    /// Saves once more; returns when the files are on the disk.
    func finish() async {
        await thread.run { self.save() }
        thread.stop()
    }

    /// Runs on the thread that writes the files.
    private func save() {
        let (latest, places, written) = state.withLock { ($0.latest, $0.places, $0.written) }
        guard let latest else { return }
        rememberURLs(of: latest)
        do throws(StateError) {
            var queue = written ?? SavedQueue()
            if written?.tracks != latest.tracks {
                queue = SavedQueue(
                    id: String(UInt64.random(in: 0 ... .max), radix: 16),
                    tracks: latest.tracks
                )
                try folder.write(queue.text, to: Self.queueName)
                state.withLock { [queue] in $0.written = queue }
            }
            var session = latest.session
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
    private func rememberURLs(of latest: Latest) {
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
        if !lines.isEmpty { folder.append(lines.joined(separator: "\n"), to: Self.episodesName) }
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

    func isPlayed(_ episode: Episode) -> Bool { state.withLock { $0.episodes.isPlayed(episode) } }

    /// Also forgets the positions of the episodes: each starts from its beginning the next time.
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode]) {
        let lines = state.withLock { state in
            for episode in episodes { state.places.remove(episode.key) }
            return episodes.compactMap { state.episodes.setPlayed(isPlayed, $0) }
        }
        guard !lines.isEmpty else { return }
        thread.submit { [folder] in folder.append(lines.joined(separator: "\n"), to: Self.episodesName) }
    }

    /// The location at which the most bytes of `track` are cached: its own, or an earlier URL of the same episode.
    func cachedLocation(of track: Track, in cache: any CacheStatus) async -> ResourceLocation {
        guard let episode = track.episode, case .web(let url) = track.location else { return track.location }
        let earlier = state.withLock { $0.episodes.urls(of: episode) }.reversed().compactMap { WebURL($0) }
        guard !earlier.isEmpty else { return track.location }
        let urls = [url] + earlier
        let bytes = await cache.availability(of: urls).map { $0?.storedBytes ?? 0 }
        let fullest = bytes.firstIndex(of: bytes.max() ?? 0) ?? 0
        return .web(urls[fullest])
    }
}

/// Decides when to save the session.
///
/// Used only when the player reports a change, so an idle player is never woken.
struct SavePace: Sendable {
    /// The time by which the saved position may lag behind after a power cut.
    static let interval = Duration.seconds(30)
    /// The shortest time between two writes, for keys that are held down.
    static let shortest = Duration.seconds(2)

    private var saved: (tracks: [Track], session: SavedSession)?
    private var savedAt = Duration.zero

    /// `true` if the session must be saved now; if so, it counts as saved. A change of anything but the
    /// position is due once `shortest` has passed since the last save; the position alone, every `interval`
    /// while it moves.
    mutating func isDue(_ tracks: [Track], _ session: SavedSession, isMoving: Bool, at now: Duration) -> Bool
    {
        let age = now - savedAt
        guard saved == nil || age >= Self.shortest else { return false }
        var session = session
        session.position = .zero
        let isSame = saved.map { $0.tracks == tracks && $0.session == session } ?? false
        guard !isSame || (isMoving && age >= Self.interval) else { return false }
        saved = (tracks, session)
        savedAt = now
        return true
    }
}
