import Media

/// How much of what the server took was heard.
///
/// The server's clock is an estimate that is late, absent after a flush and wrong after quick pauses.
/// What is made of it never goes back and never passes what was taken.
struct PulsePosition {
    private(set) var taken: FrameCount = 0
    private(set) var heard: FrameCount = 0

    mutating func took(_ count: FrameCount) { taken += count }

    /// `latency` frames of what was taken are still to be heard.
    mutating func measured(latency: FrameCount) {
        heard = max(heard, min(taken, taken - latency))
    }

    /// The rest was dropped, or has been heard to the end.
    mutating func flushed() { heard = taken }
}
