import Media

/// Tells which track, and where in it, a frame of the sink belongs to. Pure.
///
/// Tracks of one format follow each other in one stream, so the track being heard changes in mid-stream,
/// some time after the decoder went on to the next.
struct Timeline: Sendable {
    struct Segment: Sendable, Equatable {
        var pass: PassID
        /// The first frame, counted as the sink counts what it takes.
        var start: FrameCount
        /// The frame of the track that this is.
        var landing: FrameCount
        var format: AudioFormat
        var isExact: Bool
    }

    private(set) var segments: [Segment] = []

    /// A pass begins to write at `start`.
    mutating func append(_ segment: Segment) { segments.append(segment) }

    /// Takes back a pass that wrote nothing.
    mutating func remove(_ pass: PassID) { segments.removeAll { $0.pass == pass } }

    /// The frames of `pass` lie `shift` later in its track than was thought.
    mutating func correct(_ pass: PassID, by shift: FrameCount) {
        for index in segments.indices where segments[index].pass == pass {
            segments[index].landing += shift
            segments[index].isExact = true
        }
    }

    mutating func removeAll() { segments = [] }

    /// Leaves behind what ended before `heard`, and returns the passes whose successor is heard, each with
    /// the number of its frames.
    ///
    /// At the very boundary the old pass stays: nothing of the new one has sounded.
    mutating func advance(to heard: FrameCount) -> [(pass: PassID, frames: FrameCount)] {
        var passed: [(pass: PassID, frames: FrameCount)] = []
        while segments.count > 1, heard > segments[1].start {
            passed.append((segments[0].pass, segments[1].start - segments[0].start))
            segments.removeFirst()
        }
        return passed
    }

    /// Frames of the heard pass that were heard.
    func heardFrames(at heard: FrameCount) -> FrameCount {
        segments.first.map { max(0, heard - $0.start) } ?? 0
    }

    /// The position in the heard pass's track; nil when nothing is on the way to the sink.
    func position(at heard: FrameCount) -> Duration? {
        guard let segment = segments.first else { return nil }
        return segment.format.duration(of: segment.landing + max(0, heard - segment.start))
    }
}
