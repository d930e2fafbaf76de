import Media

/// The state of the sink's stream, and of the recovery after the audio server was lost. Pure.
struct OutputState: Sendable, Equatable {
    /// The refill after an underrun. It doubles with each further one: on a connection that is slower than
    /// the music, a few long pieces are heard instead of many short ones.
    static let firstRefill = Duration.seconds(1)
    static let longestRefill = Duration.seconds(8)
    /// After this time without an underrun, the next one counts as the first.
    static let calmTime = Duration.seconds(300)

    /// Which tracks may follow others in the open stream.
    let joining: TrackJoining
    /// The format of the open stream; `nil` without one.
    private(set) var format: AudioFormat?
    private var phase = Phase.filling(isRefill: false)
    /// `true` if nothing will be written after the frames in the ring.
    private(set) var isFinishing = false
    /// How much music is needed to continue after the last underrun.
    private(set) var refill = Self.firstRefill
    private var lastUnderrun: Duration?
    /// Identifies the playback for which the stream was opened: passes of a track before and after a seek
    /// share it.
    private var playing: PassID?
    /// Set from the loss of the audio server until sound is heard again.
    private var recovery: OutputRecovery?

    /// A refill follows an underrun.
    private enum Phase: Equatable {
        case filling(isRefill: Bool)
        /// The ring holds enough PCM to start the sink.
        case ready(isRefill: Bool)
        case running
    }

    init(joining: TrackJoining) { self.joining = joining }

    var isRunning: Bool { phase == .running }

    /// `true` if the ring holds enough PCM to start the sink, which is not running.
    var isPrimed: Bool { phase == .ready(isRefill: isBuffering) }

    /// `true` if the sink had an underrun and does not run again yet.
    var isBuffering: Bool { phase == .filling(isRefill: true) || phase == .ready(isRefill: true) }

    /// `true` if the sink could start, but waits until more of the track is loaded: a refill that is longer
    /// than the ring is not decoded in advance, since its bytes take a tenth of the memory of its PCM.
    var awaitsBytes: Bool {
        guard isBuffering, isPrimed, let format else { return false }
        return format.frames(in: refill) > PCMRing.frames(for: format)
    }

    /// `true` if there is no audio server at which a stream could be opened.
    var isLost: Bool { recovery?.isReached == false }

    /// `true` from the loss of the audio server until sound is heard again.
    var isRecovering: Bool { recovery != nil }

    /// `true` if a track in `format` can follow in the open stream without a gap.
    func canContinue(in format: AudioFormat) -> Bool {
        self.format.map { joining.allows(format, in: $0) } == true
    }

    /// Opens a stream for `pass`, unless the samples of `format` stay exact in the open one.
    ///
    /// - Parameter expectsWide: `true` if integers of more than 16 bits may follow. Then music of 16 bits
    ///   gets a stream of 32 bits, in which it stays exact too and which they can follow without a gap. The
    ///   ring then takes twice the memory: of stereo at 44.1 kHz, 0.7 MB.
    mutating func open(_ format: AudioFormat, for pass: Pass, expectsWide: Bool) -> [PlayerEffect] {
        let widens = expectsWide && joining == .rounding && format.sample == .s16
        if let open = self.format {
            let fits =
                joining == .never
                ? open == format && playing == pass.playing : TrackJoining.exactly.allows(format, in: open)
            if fits, !widens || open.sample != .s16 { return [] }
        }
        var format = format
        if widens { format.sample = .s32 }
        self.format = format
        playing = pass.playing
        return [.openOutput(format)]
    }

    mutating func started() {
        phase = .running
        recovery = nil
    }

    /// Pauses a running sink, which can start again at once.
    mutating func pause() -> [PlayerEffect] {
        guard isRunning else { return [] }
        phase = .ready(isRefill: false)
        return [.pauseOutput]
    }

    /// The ring holds enough PCM to start the sink, which is not running.
    mutating func primed() { phase = .ready(isRefill: isBuffering) }

    mutating func ranDry(at now: Duration) -> [PlayerEffect] {
        let isFirst = lastUnderrun.map { now - $0 > Self.calmTime } ?? true
        refill = isFirst ? Self.firstRefill : min(refill * 2, Self.longestRefill)
        lastUnderrun = now
        phase = .filling(isRefill: true)
        return [.pauseOutput]
    }

    /// Ends the stream after the frames in the ring. A paused sink drains once it runs again.
    mutating func finish(isPaused: Bool) -> [PlayerEffect] {
        isFinishing = true
        if isRunning { return [.finishRing, .drain] }
        primed()
        return [.finishRing] + (isPaused ? [] : [.startOutput])
    }

    mutating func drained() { phase = .filling(isRefill: false) }

    /// Drops everything that was written, so that a new pass can begin. Call it only after the passes were
    /// cancelled.
    mutating func silence() -> [PlayerEffect] {
        phase = .filling(isRefill: false)
        isFinishing = false
        guard format != nil else { return [] }
        return [.pauseOutput, .flushOutput]
    }

    /// The stream could not be opened or started, or has failed.
    mutating func failed() { self = OutputState(joining: joining) }

    /// The audio server was lost, for the first time or again. Returns `true` if `error` differs from the
    /// last one reported since sound was last heard.
    mutating func lost(because error: MediaError) -> Bool {
        var recovery = recovery ?? OutputRecovery()
        let isNew = recovery.isNew(error)
        recovery.lost()
        self = OutputState(joining: joining)
        self.recovery = recovery
        return isNew
    }

    /// Schedules an attempt to reach the lost server, unless one is in progress; `atOnce` replaces that one.
    mutating func reconnect(atOnce: Bool) -> [PlayerEffect] {
        guard let delay = recovery?.attempt(atOnce: atOnce), let attempt = recovery?.number else { return [] }
        return [.reconnectOutput(after: delay, attempt: attempt)]
    }

    mutating func ended(_ attempt: Int, isReached: Bool) -> Bool {
        recovery?.ended(attempt, isReached: isReached) == true
    }
}

/// Times the attempts to reach an audio server that was lost. Pure.
struct OutputRecovery: Sendable, Equatable {
    /// The first delay: a restarting server needs about this long.
    static let shortestDelay = Duration.milliseconds(500)
    /// The longest delay: sound returns at most this long after the server has restarted, and such rare
    /// wake-ups cost almost nothing.
    static let longestDelay = Duration.seconds(5)

    private enum Stage: Sendable, Equatable {
        case idle
        /// An attempt waits for its time or for a reply.
        case trying
        /// The server was reached, but no sound has been heard yet.
        case reached
    }

    private var stage = Stage.idle
    /// The number of the newest attempt. Late replies to older attempts are ignored.
    private(set) var number = 0
    /// Attempts since sound was last heard.
    private var attempts = 0
    private var reportedError: MediaError?

    var isReached: Bool { stage == .reached }

    /// `true` if `error` differs from the error that was reported last.
    mutating func isNew(_ error: MediaError) -> Bool {
        defer { reportedError = error }
        return reportedError != error
    }

    mutating func lost() { stage = .idle }

    /// Begins an attempt and returns the delay before it. Returns `nil` if the server was reached, or while
    /// an attempt is in progress, unless `atOnce` replaces that.
    mutating func attempt(atOnce: Bool) -> Duration? {
        switch stage {
        case .reached: return nil
        case .trying:
            guard atOnce else { return nil }
            number += 1
            return .zero
        case .idle:
            stage = .trying
            number += 1
            let doublings = min(attempts, 8)
            attempts += 1
            return atOnce ? .zero : min(Self.shortestDelay * (1 << doublings), Self.longestDelay)
        }
    }

    /// Attempt number `attempt` has reached the server (`isReached`) or failed. Returns `false` if a newer
    /// attempt has replaced it.
    mutating func ended(_ attempt: Int, isReached: Bool) -> Bool {
        guard stage == .trying, attempt == number else { return false }
        stage = isReached ? .reached : .idle
        return true
    }
}
