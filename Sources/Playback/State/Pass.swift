import Media

/// Tells apart two passes of the decoder over a track; a seek begins a new one. An event with an old ID
/// is dropped.
package struct PassID: Hashable, Sendable, Comparable {
    package var value: Int

    package static func < (left: PassID, right: PassID) -> Bool { left.value < right.value }
}

/// What the player knows of one pass of the decoder.
struct Pass: Sendable {
    enum Stage: Sendable, Equatable {
        /// Reading its head, or seeking.
        case opening
        /// Knows its format and waits for its turn to write.
        case ready
        /// Writes PCM.
        case writing
        /// Has written all of one format, and waits for a stream in the next.
        case changing
        /// All its PCM is written, or it failed after writing some.
        case written
        /// Prepared behind another, it failed. That is told when its turn comes.
        case failed

        /// Whether it was not let write yet.
        var isBeforeWriting: Bool {
            switch self {
            case .opening, .ready, .failed: true
            case .writing, .changing, .written: false
            }
        }
    }

    let id: PassID
    let track: Track
    /// Where it was asked to begin.
    let start: Duration
    var stage = Stage.opening
    var info: StreamInfo?
    var landing = SeekLanding(frame: 0, isExact: true)
    /// Why it stopped before the end.
    var failure: MediaError?
    /// Frames that earlier passes over the same track brought to the sink.
    var framesBefore: FrameCount = 0
    /// Frames written since it was let write; known when it has stopped writing.
    var writtenFrames: FrameCount = 0
    /// The first pass of this playing of the track: those after a seek belong to it.
    var playing: PassID
    var stalls = 0
    /// Whether a seek command began it, which wants an answer.
    var answersSeek = false
    /// Whether it began anew because the resource changed; it does so once.
    var isAfterChange = false
    /// Whether the resource changed while it wrote behind another; the track goes on in a pass of its own.
    var isBrokenOff = false
    var isSeekable = true
    /// Set for a live stream.
    var station: Station?
    /// The title that a live stream gave to what is heard.
    var streamTitle: SafeText?
    /// Titles on their way to the ear, each with the sink's frame where it begins.
    var comingTitles: [(frame: FrameCount, text: SafeText)] = []

    var isLive: Bool { station != nil }

    init(id: PassID, track: Track, start: Duration) {
        self.id = id
        playing = id
        self.track = track
        self.start = start
    }
}
