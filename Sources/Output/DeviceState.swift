import Media

/// A model of a sound card. Computes, for any time, how many frames were heard and how many it wants.
///
/// The device holds at most `buffer` frames: that many frames may be taken but not heard yet. If it runs out
/// of frames, it stops until it gets new ones.
struct DeviceState {
    let format: AudioFormat
    private let buffer: FrameCount
    private(set) var taken: FrameCount = 0
    /// The frames heard at `startedAt`, or until now while it is stopped.
    private var heardBefore: FrameCount = 0
    /// The time at which `heardBefore` frames had been heard; `nil` while it is stopped.
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
    func wanted(at now: Duration) -> FrameCount { isPlaying ? max(0, playhead(at: now) + buffer - taken) : 0 }

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

    /// The reader delivered `count` of the frames wanted at `now`. Returns `true` if an underrun is to be
    /// reported.
    ///
    /// A late read is no underrun if the reader has the frames that a timely read would have taken: underruns
    /// are caused by the reader, not by a busy machine.
    mutating func took(_ count: FrameCount, isFinished: Bool, at now: Duration) -> Bool {
        taken += count
        guard isPlaying, !isFinished, taken < playhead(at: now) else { return false }
        // The device ran out of frames: playback restarts with the next frame.
        heardBefore = taken
        startedAt = now
        defer { isUnderrunReported = true }
        return !isUnderrunReported
    }

    /// The frames that would have been heard if the device never ran out of frames.
    private func playhead(at now: Duration) -> FrameCount {
        guard let startedAt else { return heardBefore }
        return heardBefore + format.frames(in: now - startedAt)
    }
}
