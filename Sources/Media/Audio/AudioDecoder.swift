/// Decodes one resource to PCM. It reads the bytes through its own `ByteSource`.
///
/// Not `Sendable`: only one task at a time uses it. Every `async` call may wait for bytes, and throws
/// `CancellationError` as soon as the task is cancelled. A decoder whose call was cancelled, or failed, can
/// still `seek`.
package protocol AudioDecoder: AnyObject {
    /// The properties of the stream known so far; decoding refines them.
    var info: StreamInfo { get }

    /// Reads until the format is known; does nothing if it is known already.
    ///
    /// Throws `MediaError` with `.notAudio` if the resource is not audio of this kind, and with
    /// `.emptyResource` if it has no bytes.
    func open() async throws

    /// Decodes into `pcm` as many whole frames as fit and as the available bytes allow, at least one.
    ///
    /// `pcm` has room for at least one frame and is aligned for every sample format. Frames that do not fit
    /// are left for the next call. Opens first if necessary. After `.end`, every further call returns `.end`
    /// until a seek.
    func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep

    /// Continues at `time` from the start of the music, clamped to `0...duration`. Opens first if necessary.
    func seek(to time: Duration) async throws -> SeekLanding

    /// Prepares to decode from where playing begins unless a place is asked for, which is the beginning of
    /// the music if the stream does not state it. Call it only before `decode` and `seek`.
    func start() async throws -> SeekLanding

    /// `true` if `seek(to: time)` and the first `decode` after it need only stored bytes. Never waits.
    func isStored(at time: Duration) -> Bool

    /// The seek table as it is now, opaque, to be stored with the entry; empty if nothing is worth storing.
    func seekTable() -> [UInt8]

    /// The actual position of the last approximate landing, once it is known; `nil` until then, and after an
    /// exact landing. Positions of frames decoded afterwards count from it.
    var correctedLanding: SeekLanding? { get }

    /// Scans a slice of stored bytes that were not decoded yet, so that seeks there become exact and an
    /// approximate landing is corrected. Returns `false` if there is nothing to scan until more bytes are
    /// stored.
    ///
    /// Called between two calls of `decode` while the ring is full: it never waits for the network and takes
    /// about a millisecond.
    func scanStored() async throws -> Bool
}

extension AudioDecoder {
    package var correctedLanding: SeekLanding? { nil }

    /// The beginning, by default.
    package func start() async throws -> SeekLanding { SeekLanding(frame: 0, isExact: true) }

    package func scanStored() async throws -> Bool { false }

    /// `false` by default, so that of several seeks in quick succession all but the first are delayed, in
    /// case they need the network.
    package func isStored(at time: Duration) -> Bool { false }
}

package enum DecodeStep: Sendable, Equatable {
    /// This many frames of `info.format` were written, at least 1.
    case frames(Int)
    /// From here on frames have another format, which is in `info.format`; nothing was written.
    case formatChanged
    /// The end of the music; nothing was written.
    case end
}

/// The position at which a seek arrived.
package struct SeekLanding: Sendable, Equatable {
    /// The frame with which the next decode starts, counted from the start of the music.
    package var frame: FrameCount
    /// `true` if `frame` is exact; `false` if it is an estimate, shown with `~`.
    package var isExact: Bool

    package init(frame: FrameCount, isExact: Bool) {
        self.frame = frame
        self.isExact = isExact
    }
}

/// The properties of a stream, as far as its decoder knows them.
package struct StreamInfo: Sendable, Equatable {
    package var format: AudioFormat
    /// The length of the music without tags and gapless padding; `nil` if unknown.
    package var duration: Duration?
    /// `true` for a live stream of which the server still has a part, in which seeks lead.
    package var isRewindable = false
    /// `true` if `duration` was counted or stated by a header, not estimated.
    package var isDurationExact = false
    /// The mean number of bytes for one second of music, for read-ahead.
    package var bytesPerSecond: Double
    /// The offset of the first audio frame in the resource.
    package var audioStart: Int64 = 0
    /// The times at which bytes are played, by the decoder's seek table; `nil` if it has none, or if the
    /// length of the resource or of the music is unknown.
    package var timeMap: TimeMap?
    package var tags = TrackTags()
    /// The chapters. Their titles may become known later than their starts.
    package var chapters = ChapterList()
    /// The title of the music that follows, in a format whose live streams state it between their songs:
    /// artist and title. `nil` in all others.
    package var songTitle: SafeText?
    /// `true` if `songTitle` is shown in a recording too: each of its parts has a title of its own.
    package var hasTitles = false
    /// The ReplayGain that tags or headers state; `nil` if none do.
    package var loudness: Loudness? { didSet { if loudness?.isEmpty == true { loudness = nil } } }
    /// Bytes skipped so far because they belong to no frame: damage, and tags in mid-stream.
    package var skippedByteCount: Int64 = 0
    /// For display: `MPEG-1 Layer III, VBR`, ….
    package var codec: SafeText = ""

    package init(format: AudioFormat, bytesPerSecond: Double) {
        self.format = format
        self.bytesPerSecond = bytesPerSecond
    }
}
