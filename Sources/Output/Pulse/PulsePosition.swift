package import Media

/// How much of what the server took was heard.
///
/// The server tells now and then how late it is; in between the music moves with time, for as long as
/// the server says that it plays. Before that it does not: an idle sink may have silence for two
/// seconds in store when a stream starts, and libpulse's own interpolation, which cannot go back, takes
/// that silence for music. What comes out here never goes back and never passes what was taken.
package struct PulsePosition: Sendable {
    /// Since the stream was made.
    package private(set) var taken: FrameCount = 0
    /// Heard or flushed.
    package private(set) var heard: FrameCount = 0
    /// What the server last told: frames heard at a moment, fewer than none while silence goes first.
    /// nil while the music stands.
    private var running: (heard: FrameCount, since: Duration)?
    private let format: AudioFormat

    /// Whether time moves the music.
    package var isRunning: Bool { running != nil }

    package init(format: AudioFormat) { self.format = format }

    package mutating func took(_ count: FrameCount) { taken += count }

    /// The server's word that `latency` frames of what was taken were still to be heard at the moment
    /// `now`, and whether it plays.
    package mutating func measured(latency: FrameCount, isPlaying: Bool, at now: Duration) {
        running = isPlaying ? (taken - latency, now) : nil
        advance(to: taken - latency)
    }

    /// Lets time pass until `now`.
    package mutating func moved(to now: Duration) {
        guard let running, now > running.since else { return }
        advance(to: running.heard + format.frames(in: now - running.since))
    }

    /// The stream was corked: time passes without music until the server says otherwise.
    package mutating func stopped() { running = nil }

    /// The rest was dropped, or has been heard to the end.
    package mutating func flushed() {
        running = nil
        heard = taken
    }

    private mutating func advance(to frames: FrameCount) { heard = max(heard, min(taken, frames)) }
}
