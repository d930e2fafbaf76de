import Media
import System

/// The state of the last session, and the saving of this one for the next.
///
/// A thread of its own writes to the database. If two players run, the session of the last one to write is
/// remembered, and the positions and played episodes of both.
final class SessionMemory: Sendable {
    private struct State {
        var pace = SavePace()
        /// The state in the database, as far as this player knows it; in a fresh session without the
        /// positions of others.
        var known: SavedState
        /// A fresh session saves nothing until it has played for this long.
        var trial: TrialTime?
        /// The newest state from before the player ended.
        var latest: PlayerSnapshot?
        var unsaved = Unsaved()
        /// The servers of the sources that were added in this session. The next one trusts them too.
        var addedOrigins: [String] = []
        /// `true` if the thread will save what there is by then.
        var isSaveQueued = false
        /// The earliest time at which `look` will run by itself; `nil` if it will not.
        var nextLook: Duration?
        /// `false` if the database must stay as it is.
        var isSaved: Bool
        /// `true` once a failure was reported.
        var hasFailed: Bool
        var hasEnded = false
    }

    /// Changes that are not in the database yet, besides the positions.
    private struct Unsaved {
        /// By the keys of the episodes.
        var played: [String: Bool] = [:]
        var lines: [String] = []

        var isEmpty: Bool { played.isEmpty && lines.isEmpty }

        /// Puts back what could not be saved.
        mutating func restore(_ earlier: Unsaved) {
            played.merge(earlier.played) { later, _ in later }
            lines = earlier.lines + lines
        }
    }

    let last: SavedState
    /// The reason why the saved state is not used, and its queue and session not replaced; `nil` if they are.
    let problem: MediaError?
    /// The servers that may get the user's secrets: those of this command line, or else of the last session.
    let trustedOrigins: [String]

    private let folder: StateFolder
    private let isInteractive: Bool
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "state")
    private let state: Locked<State>
    /// Called if the state cannot be saved.
    private let listener = LateBound<@Sendable (MediaError) -> Void>()

    /// Reads the state. If it is damaged or newer, it stays as it is. If it can't be read now, because
    /// another process has locked it for instance, its queue and session stay, and the rest is saved.
    ///
    /// With `--fresh`, the last session and the positions are not used, and stay as they are until the
    /// session has played for a minute; so do positions that can't be read now. A session that is not
    /// interactive only knows the episodes, and changes nothing.
    init(folder: StateFolder, options: Options, isInteractive: Bool = true, clock: any MonotonicClock) {
        self.folder = folder
        self.isInteractive = isInteractive
        self.clock = clock
        let isContinued = isInteractive && !options.fresh
        var isSaved = isInteractive
        do {
            last = try folder.read { try SavedState($0, isContinued: isContinued) }
            problem = nil
        } catch {
            last = SavedState()
            problem = Self.problem("this session is not saved", error, folder)
            isSaved = isInteractive && !Self.isLasting(error)
        }
        let trial = options.fresh || problem != nil ? TrialTime() : nil
        state = Locked(State(known: last, trial: trial, isSaved: isSaved, hasFailed: !isSaved))
        let typed = options.sources.compactMap { WebURL($0)?.resolving("/")?.requestString }
        // The downloads that go on need the log-ins of the servers that were named for them.
        let pending = Set(last.session.downloads.compactMap { $0.track.location.url?.origin })
        let earlier = last.session.origins.filter {
            typed.isEmpty || WebURL($0).map { pending.contains($0.origin) } == true
        }
        trustedOrigins = typed + earlier.filter { !typed.contains($0) }
    }

    private static func problem(_ effect: SafeText, _ error: any Error, _ folder: StateFolder) -> MediaError {
        let database = error as? SQLiteError
        let reason = database?.message ?? (error as? SystemError)?.reason ?? "\(error)"
        let advice: SafeText = isDamage(error) ? " – move the file away" : ""
        return MediaError(.badState, SafeText(folder.databasePath), effect + ": " + SafeText(reason) + advice)
    }

    /// `true` if the database will fail again, and must stay as it is.
    private static func isLasting(_ error: any Error) -> Bool {
        error is NewerStateError || isDamage(error)
    }

    /// Also an error of SQLite without a cause of its own: the statements are always the same, so then the
    /// file is no database that they are for.
    private static func isDamage(_ error: any Error) -> Bool {
        (error as? SQLiteError).map { $0.isDamage || $0.code == .error } ?? false
    }

    /// Adds a line typed after `:` to the history.
    func remember(_ line: String) {
        state.withLock { state in
            state.unsaved.lines.append(line)
            queueSave(&state)
        }
    }

    /// The user has added `source`, whose server the next session trusts with its queue.
    func added(_ source: WebURL) {
        guard let origin = source.resolving("/")?.requestString, !trustedOrigins.contains(origin) else {
            return
        }
        state.withLock { state in
            if !state.addedOrigins.contains(origin) { state.addedOrigins.append(origin) }
        }
    }

    /// Saves the state of `player` from now on if it is interactive, and reports errors to `notify`.
    func watch(_ player: any PlayerControl, notify: @escaping @Sendable (MediaError) -> Void) {
        guard isInteractive else { return }
        if let problem { notify(problem) }
        listener.value = notify
        player.observe { [weak self] in self?.look(at: player) }
    }

    private func look(at player: any PlayerControl) {
        let snapshot = player.snapshot
        guard !snapshot.isOver else { return }
        state.withLock { state in
            guard !state.hasEnded else { return }
            let now = clock.now
            if let isOver = state.trial?.isOver(isPlaying: snapshot.state == .playing, at: now) {
                guard isOver else { return }
                state.trial = nil
            }
            // If the sources have no track, the saved queue is left unchanged. An empty one is saved with the
            // downloads.
            let hasDownloads = last.queue.tracks.isEmpty && !snapshot.downloads.isEmpty
            guard !snapshot.tracks.isEmpty || hasDownloads || state.latest != nil else { return }
            state.latest = snapshot
            if [.playing, .paused].contains(snapshot.state), let heard = snapshot.currentTrack {
                state.known.places.note(heard, of: snapshot)
            }
            switch state.pace.due(snapshot, at: now) {
            case nil: break
            case let time? where time <= now: queueSave(&state)
            case let time?:
                guard state.nextLook.map({ time < $0 }) ?? true else { break }
                state.nextLook = time
                lookAgain(at: player, time)
            }
        }
    }

    /// Looks at `player` at `time`, in case it does not change any more.
    private func lookAgain(at player: any PlayerControl, _ time: Duration) {
        Task { [weak self, clock] in
            try? await clock.sleep(until: time)
            guard let self else { return }
            state.withLock { state in
                if state.nextLook == time { state.nextLook = nil }
            }
            look(at: player)
        }
    }

    /// Saves what there is now; returns when it is on the disk. Does nothing once the memory has finished.
    func saveNow() async {
        await withCheckedContinuation { saved in
            let isBegun = state.withLock { state in
                guard isInteractive, !state.hasEnded else { return false }
                thread.submit { [self] in
                    save()
                    saved.resume()
                }
                return true
            }
            if !isBegun { saved.resume() }
        }
    }

    /// Saves once more; returns when the changes are on the disk.
    func finish() async {
        guard isInteractive else { return }
        await saveNow()
        state.withLock { $0.hasEnded = true }
        thread.stop()
    }

    /// Makes the thread save what there is by then, if it will not do so anyway.
    private func queueSave(_ state: inout State) {
        guard state.isSaved, !state.isSaveQueued, !state.hasEnded else { return }
        state.isSaveQueued = true
        thread.submit { [self] in save() }
    }

    /// Runs on the thread that writes. What cannot be saved is saved with the next change.
    private func save() {
        let (latest, written, places, unsaved, added) = state.withLock { state in
            defer {
                state.isSaveQueued = false
                state.known.places.unsaved = []
                state.unsaved = Unsaved()
            }
            return (state.latest, state.known.queue, state.known.places, state.unsaved, state.addedOrigins)
        }
        let saved = problem == nil ? latest : nil
        guard saved != nil || !places.unsaved.isEmpty || !unsaved.isEmpty else { return }
        let queue = saved.map { written.replaced(by: $0) } ?? written
        let isDone = change { tables in
            if let saved {
                var session = SavedSession(saved)
                session.origins = trustedOrigins + added
                try tables.save(queue, over: written)
                try tables.save(session)
                try tables.setHeard(session.heard, of: StateTables.currentKey)
            }
            for key in places.unsaved {
                try tables.setPlace(places.positions[key], of: key)
                try tables.setHeard(places.heard[key] ?? HeardSpans(), of: key)
            }
            for (key, isPlayed) in unsaved.played { try tables.setPlayed(isPlayed, key) }
            for line in unsaved.lines { try tables.addLine(line) }
        }
        state.withLock { state in
            if isDone {
                state.known.queue = queue
            } else {
                state.known.places.unsaved.formUnion(places.unsaved)
                state.unsaved.restore(unsaved)
            }
        }
    }

    /// Changes the database, on the thread that writes. Returns `false` if that failed; the first failure is
    /// reported.
    private func change(_ body: (StateTables) throws -> Void) -> Bool {
        guard state.withLock({ $0.isSaved }) else { return false }
        do {
            try folder.change(body)
            return true
        } catch {
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                if Self.isLasting(error) { state.isSaved = false }
                return !state.hasFailed
            }
            if isFirst { listener.value?(Self.problem("can't save the session", error, folder)) }
            return false
        }
    }
}

extension SessionMemory: ListeningMemory {
    func resumePoint(of track: Track) -> Duration? {
        state.withLock { $0.known.places.positions[track.placeKey] }
    }

    func heardParts(of track: Track) -> HeardSpans {
        if let parts = state.withLock({ $0.known.places.heard[track.placeKey] }) { return parts }
        let current = last.place.map { last.queue.tracks[$0.index].placeKey }
        return current == track.placeKey ? last.session.heard : HeardSpans()
    }

    func isPlayed(_ episode: Episode) -> Bool { state.withLock { $0.known.played.contains(episode.key) } }

    /// Also forgets the positions of the episodes: each starts from its beginning the next time.
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode]) {
        guard isInteractive else { return }
        let keys = episodes.map(\.key)
        state.withLock { state in
            if isPlayed { state.known.played.formUnion(keys) } else { state.known.played.subtract(keys) }
            for key in keys {
                state.known.places.set(nil, of: key)
                state.unsaved.played[key] = isPlayed
            }
            queueSave(&state)
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
/// A player that does nothing is woken only for a change that came too soon after the last save.
struct SavePace: Sendable {
    /// The time by which the saved position, and the learned tags and durations, may lag behind after a power
    /// cut.
    static let interval = Duration.seconds(30)
    /// The shortest time between two writes, for keys that are held down; a change is not saved later.
    static let shortest = Duration.seconds(1)

    private var saved: (tracks: [Track], session: SavedSession)?
    private var savedAt = Duration.zero
    private var learned = LearnedFacts()
    /// The position at the last call, and the time of that call.
    private var seen: (position: Duration, time: Duration)?
    /// `true` if the position has jumped since the last save.
    private var hasJumped = false

    /// The time at which the session must be saved; if that is `now`, it counts as saved. `nil` if there is
    /// nothing to save.
    ///
    /// A change of the queue, the volume or the modes, or a seek, is due once `shortest` has passed since the
    /// last save; learned tags and durations, and the position while it moves, are due every `interval`.
    mutating func due(_ player: PlayerSnapshot, at now: Duration) -> Duration? {
        var session = SavedSession(player)
        noteJump(to: session.position, at: now)
        session.position = .zero
        session.heard = HeardSpans()
        let isChanged =
            hasJumped || saved.map { $0.tracks != player.tracks || $0.session != session } ?? true
        guard isChanged || player.state == .playing || learned != player.learned else { return nil }
        let time = saved == nil ? now : savedAt + (isChanged ? Self.shortest : Self.interval)
        guard time <= now else { return time }
        saved = (player.tracks, session)
        savedAt = now
        learned = player.learned
        hasJumped = false
        return now
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
