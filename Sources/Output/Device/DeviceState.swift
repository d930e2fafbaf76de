import Media

/// A model of a sound card: how many frames it has heard and wants, at any time.
///
/// It holds `buffer` frames at most, so what is taken is ahead of what is heard by as much. A device
/// that runs dry stands still until it has frames again.
struct DeviceState {
    let format: AudioFormat
    /// How much the device takes ahead of what it plays.
    private(set) var buffer: FrameCount
    /// Seconds of music that it plays in a second of its clock: 1, and a little beside it for a real card.
    private(set) var speed = 1.0
    private(set) var taken: FrameCount = 0
    /// What was heard at `startedAt`, or in all while it stands still.
    private var heardBefore: FrameCount = 0
    /// When `heardBefore` was true; nil while it stands still.
    private var startedAt: Duration?
    private var isUnderrunTold = false

    init(format: AudioFormat, latency: Duration) {
        self.format = format
        buffer = format.frames(in: latency)
    }

    var isPlaying: Bool { startedAt != nil }

    /// Frames that were heard or flushed by `now`.
    func heard(at now: Duration) -> FrameCount { min(taken, playhead(at: now)) }

    /// Frames to take at `now`: what was played since, and the buffer.
    func wanted(at now: Duration) -> FrameCount {
        isPlaying ? max(0, playhead(at: now) + buffer - taken) : 0
    }

    /// How long from `now` until all that was taken is heard.
    func remaining(at now: Duration) -> Duration { format.duration(of: taken - heard(at: now)) }

    mutating func started(at now: Duration) {
        heardBefore = heard(at: now)
        startedAt = now
        isUnderrunTold = false
    }

    mutating func paused(at now: Duration) {
        heardBefore = heard(at: now)
        startedAt = nil
    }

    /// Goes on at another speed, and from now on takes as much ahead as `latency` says; what was taken stays.
    mutating func changed(speed: Double, latency: Duration, at now: Duration) {
        heardBefore = heard(at: now)
        if isPlaying { startedAt = now }
        self.speed = speed
        buffer = format.frames(in: latency)
    }

    mutating func flushed() {
        precondition(!isPlaying, "flush is only called while paused")
        heardBefore = taken
    }

    /// The reader gave `count` of the frames wanted at `now`. Returns whether to tell of an underrun.
    ///
    /// A tick that comes late is no underrun as long as the reader has what a tick in time had taken:
    /// the model measures the reader, not the machine it runs on.
    mutating func took(_ count: FrameCount, isFinished: Bool, at now: Duration) -> Bool {
        taken += count
        guard isPlaying, !isFinished, taken < playhead(at: now) else { return false }
        // Dry: time begins anew with the next frame.
        heardBefore = taken
        startedAt = now
        defer { isUnderrunTold = true }
        return !isUnderrunTold
    }

    /// Where the device would be if it never ran dry.
    private func playhead(at now: Duration) -> FrameCount {
        guard let startedAt else { return heardBefore }
        let elapsed = now - startedAt
        return heardBefore + format.frames(in: speed == 1 ? elapsed : elapsed * speed)
    }
}
