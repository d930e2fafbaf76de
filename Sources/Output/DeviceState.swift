import Media

/// A model of a sound card: the number of frames that were heard and that it wants, at any time.
///
/// It holds `buffer` frames at most; so many more frames are taken than heard. A device that runs dry stops until it has
/// frames again.
struct DeviceState {
    let format: AudioFormat
    /// The number of frames that the device holds.
    private let buffer: FrameCount
    private(set) var taken: FrameCount = 0
    /// The frames heard at `startedAt`, or until now while it is stopped.
    private var heardBefore: FrameCount = 0
    /// The time at which `heardBefore` was true; `nil` while it is stopped.
    private var startedAt: Duration?
    private var isUnderrunReported = false

    init(format: AudioFormat, latency: Duration) {
        self.format = format
        buffer = format.frames(in: latency)
    }

    var isPlaying: Bool { startedAt != nil }

    /// Frames that were heard or flushed by `now`.
    func heard(at now: Duration) -> FrameCount { min(taken, playhead(at: now)) }

    /// Frames to take at `now` so that the buffer is full.
    func wanted(at now: Duration) -> FrameCount {
        isPlaying ? max(0, playhead(at: now) + buffer - taken) : 0
    }

    /// The time from `now` until all frames that were taken are heard.
    func remaining(at now: Duration) -> Duration { format.duration(of: taken - heard(at: now)) }

    mutating func started(at now: Duration) {
        heardBefore = heard(at: now)
        startedAt = now
        isUnderrunReported = false
    }

    mutating func paused(at now: Duration) {
        heardBefore = heard(at: now)
        startedAt = nil
    }

    mutating func flushed() {
        precondition(!isPlaying, "flush is only called while paused")
        heardBefore = taken
    }

    /// The reader delivered `count` of the frames wanted at `now`. Returns `true` if an underrun is to be reported.
    ///
    /// A read that comes late is no underrun if the reader has the frames that one in time would have taken: the model
    /// measures the reader, not the machine it runs on.
    mutating func took(_ count: FrameCount, isFinished: Bool, at now: Duration) -> Bool {
        taken += count
        guard isPlaying, !isFinished, taken < playhead(at: now) else { return false }
        // Dry: playing starts again with the next frame.
        heardBefore = taken
        startedAt = now
        defer { isUnderrunReported = true }
        return !isUnderrunReported
    }

    /// The frames that would have been heard if the device never ran dry.
    private func playhead(at now: Duration) -> FrameCount {
        guard let startedAt else { return heardBefore }
        return heardBefore + format.frames(in: now - startedAt)
    }
}
