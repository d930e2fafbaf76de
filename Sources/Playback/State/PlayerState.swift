package import Media

/// Decides what the player does: inputs in, effects out. Pure.
///
/// `passes` holds the passes of the decoder whose PCM is on its way to the listener's ear, the one being heard
/// first. Behind it come those that already write into the same stream (gapless), and at the end at most
/// one that has been prepared and waits for its turn.
package struct PlayerState: Sendable {
    package enum Phase: Sendable, Equatable {
        /// Sources are being resolved, and nothing of them can be played yet or any more.
        case launching
        case stopped
        case active
        /// The queue was played to its end.
        case ended
        case over
    }

    struct Output: Sendable, Equatable {
        var format: AudioFormat?
        /// Whose playing it was opened for.
        var playing: PassID?
        /// Set from the loss of the audio server until music sounds again.
        var recovery: OutputRecovery?
        var isRunning = false
        /// The ring's end was announced: what is in it is the last.
        var isFinishing = false

        /// Whether there is no audio server to open a stream at.
        var isLost: Bool { recovery?.isReached == false }
    }

    /// What a seek is by how it came, which tells whether another may follow at once.
    enum SeekKind: Sendable, Equatable {
        /// Right behind another one.
        case search
        /// By itself, and relative: of a key that may be pressed again.
        case step
        /// By itself, to a place that was named.
        case place
    }

    /// Seeks that follow each other faster than this are a search: a key held down, or a bar that is clicked along.
    static let searchPace = Duration.milliseconds(300)

    /// Whether the player is over when the queue is.
    let exitsAtEnd: Bool
    /// Whether the sink wants each track in a stream of its own.
    let opensEachTrack: Bool
    /// Whether commands come from keys: a program that names a place twice means it.
    let isByHand: Bool
    package internal(set) var queue = PlayQueue()
    package internal(set) var phase = Phase.launching
    package internal(set) var isPaused = false
    package internal(set) var isBuffering = false
    /// The listener asked for the end.
    package internal(set) var isQuit = false
    var passes: [Pass] = []
    /// What the listener asked for before the sources were known, as far as it needs them.
    var held: [PlayerCommand] = []
    /// Tracks in a row that could not be played to their end, or gave no sound: once these are as many as
    /// the queue has, going round again would fail for ever.
    var consecutiveFailures = 0
    var timeline = Timeline()
    var output = Output()
    /// The ring holds enough, and only the pause keeps the sink from starting.
    var isPrimed = false
    var heard: FrameCount = 0
    var now = Duration.zero
    /// Since when the music stands still for a pause.
    var pausedSince = Duration.zero
    /// What was told last of a pass that waits for its bytes.
    var toldWait: (pass: PassID, wait: LoadWait)?
    package internal(set) var connectivity = ConnectivityReport()
    var lastPositionEvent = Duration.zero
    package internal(set) var volume: Int
    package internal(set) var isMuted = false
    package internal(set) var gainMode: GainMode
    /// Whether it was the audio server that asked for the pause, for a call; it may then end it.
    var isPausedByServer = false
    var lastSeek: Duration?
    /// The pass of the last seek, and what may follow that.
    var seeking: (pass: PassID, kind: SeekKind)?
    package internal(set) var failures: [Track.ID: SafeText] = [:]
    package internal(set) var learned: [Track.ID: TrackFacts] = [:]
    package internal(set) var messages: [PlayerMessage] = []
    private var messageCount = 0
    /// How many additions were asked for and are still being read.
    var awaitedAdditions = 0
    /// Whether what is added next was asked for before the last addition was there.
    var joinsAdditions = false
    /// Where a track goes on that was left in its middle; nil where it begins at its start.
    var resumePoint: @Sendable (Track) -> Duration? = { _ in nil }
    var nextPass = 1
    var random: Shuffler

    /// `seed` decides every shuffle.
    package init(
        exitsAtEnd: Bool,
        opensEachTrack: Bool = false,
        isByHand: Bool = true,
        volume: Int = 100,
        repeatMode: RepeatMode = .off,
        isShuffled: Bool = false,
        gainMode: GainMode = .off,
        seed: UInt64
    ) {
        self.exitsAtEnd = exitsAtEnd
        self.opensEachTrack = opensEachTrack
        self.isByHand = isByHand
        self.volume = volume
        self.gainMode = gainMode
        random = Shuffler(state: seed)
        queue.repeatMode = repeatMode
        if isShuffled { queue.toggleShuffle(using: &random) }
    }

    /// What is known of the network before the first input.
    mutating func start(with report: ConnectivityReport) { connectivity = report }

    /// Takes one input. `heard` is what the sink says of its open stream, `now` the clock's time.
    package mutating func handle(_ input: PlayerInput, heard: FrameCount, now: Duration) -> [PlayerEffect] {
        guard phase != .over else { return [] }
        self.now = now
        // The sink may have run on by the time it says so: the event tells where the sound began, and comes
        // before what was heard since.
        var effects: [PlayerEffect] = []
        if case .outputStarted = input { effects = outputStarted() }
        self.heard = heard
        effects += advance()
        return effects + respond(to: input)
    }

    private mutating func respond(to input: PlayerInput) -> [PlayerEffect] {
        switch input {
        case .command(let command): obey(command)
        case .begun(let tracks, let start, let position): begun(tracks, start: start, position: position)
        case .launched(let tracks, let problems, let start, let position):
            launched(tracks, problems, start: start, position: position)
        case .added(let tracks, let problems): added(tracks, problems)
        case .notice(let error): notice(error)
        case .passReady(let id, let info, let landing, let isSeekable):
            passReady(id, info, landing, isSeekable: isSeekable)
        case .passGranted(let id, let start): passGranted(id, at: start)
        case .infoChanged(let id, let info): infoChanged(id, info)
        case .landingCorrected(let id, let shift): landingCorrected(id, by: shift)
        case .liveFound(let id, let station): liveFound(id, station)
        case .titleReached(let id, let title, let frames): titleReached(id, title, after: frames)
        case .loadWaits(let id, let wait): loadWaits(id, wait)
        case .networkChanged(let report): networkChanged(report)
        case .pinned(let track, let isPinned): pinned(track, isPinned)
        case .saved(let count, let path): saved(count, path)
        case .keptChanged, .filled: []
        case .passPrimed(let id): passPrimed(id)
        case .formatChanged(let id, let info, let frames): formatChanged(id, info, after: frames)
        case .passWritten(let id, let frames): passWritten(id, frames)
        case .passFailed(let id, let error, let frames): passFailed(id, error, after: frames)
        case .outputStarted: []
        case .outputFailed(let error): outputFailed(error)
        case .outputReached(let attempt): outputReached(attempt)
        case .outputUnreachable(let attempt): outputUnreachable(attempt)
        case .outputEvent(let event): outputReported(event)
        case .drained: drained()
        case .tick: ticked()
        }
    }

    /// Whether time must be told to the state: something is heard, or waited for.
    package var needsTicks: Bool { phase == .active && !isPaused }

    /// The pass whose track is current.
    package var currentPass: PassID? { passes.first?.id }

    /// The track that is current, heard or about to be.
    package var currentTrack: Track? { passes.first?.track ?? queue.currentTrack }

    package var currentInfo: StreamInfo? { passes.first.flatMap { info(of: $0) } }

    /// The position heard, or where a pending start or seek leads.
    package var position: Duration {
        guard let pass = passes.first else { return .zero }
        if timeline.segments.first?.pass == pass.id, let position = timeline.position(at: heard) {
            return position
        }
        guard pass.stage != .opening, let format = pass.info?.format else { return pass.start }
        return format.duration(of: pass.landing.frame)
    }

    package var isExact: Bool { passes.first?.landing.isExact ?? true }

    package var duration: Duration? {
        passes.first.flatMap { duration(of: $0) }
    }

    package var snapshotState: PlayerSnapshot.State {
        switch phase {
        case .launching: .opening
        case .stopped: .stopped
        case .ended, .over: .ended
        case .active:
            if isPaused {
                .paused
            } else if output.isRunning {
                .playing
            } else if isBuffering || passes.first?.info != nil {
                // Known already, so what is waited for is bytes: after a seek into a gap.
                .buffering
            } else {
                .opening
            }
        }
    }

    // Numbers of tracks count from 1 outside.
    func index(of pass: Pass) -> Int { (queue.place(of: pass.track.id) ?? 0) + 1 }

    mutating func notice(_ error: MediaError) -> [PlayerEffect] {
        note(error.safeText)
        return [.emit(.notice(code: error.code.rawValue, message: error.safeText))]
    }

    /// Tells of a source, or an entry of one, that is not played.
    mutating func problem(_ error: MediaError) -> [PlayerEffect] {
        (error.code.isLostSource ? [.countLostSource] : []) + notice(error)
    }

    /// Ends the player. Nothing is answered afterwards.
    mutating func finish(fatal: MediaError?) -> [PlayerEffect] {
        phase = .over
        return [.finish(fatal: fatal)]
    }

    mutating func note(_ message: SafeText) {
        messageCount += 1
        messages.append(PlayerMessage(number: messageCount, time: now, text: message))
        if messages.count > 100 { messages.removeFirst() }
    }

    mutating func newPass(_ track: Track, at start: Duration) -> Pass {
        defer { nextPass += 1 }
        return Pass(id: PassID(value: nextPass), track: track, start: start)
    }
}

// What the shell asks in passing.
extension PlayerState {
    /// The format of the open stream; nil when the sink is closed.
    var outputFormat: AudioFormat? { output.format }

    /// Whether the place where the pass began is known to be the right one.
    func isExact(_ id: PassID) -> Bool { passes.first { $0.id == id }?.landing.isExact ?? true }

    func info(of id: PassID) -> StreamInfo? { passes.first { $0.id == id }?.info }

    /// What a seek began this pass; nil where none did.
    func seekKind(of id: PassID) -> SeekKind? { seeking?.pass == id ? seeking?.kind : nil }
}
