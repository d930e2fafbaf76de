/// Turns the bytes of one resource into PCM, pulling them through a `ByteSource` of its own.
///
/// Not `Sendable`: one task makes it, uses it and drops it. Every call may wait for bytes, and
/// throws `CancellationError` as soon as the task is cancelled; the decoder is then only
/// good for `seek` or for being dropped.
package protocol AudioDecoder: AnyObject {
    /// What is known of the stream by now; better known as decoding goes on.
    var info: StreamInfo { get }

    /// Goes up by one whenever `info` changes.
    var infoRevision: Int { get }

    /// Reads as far as the format is known. Throws `MediaError` with `.notAudio` when there is
    /// no music and `.emptyResource` when there is nothing at all.
    func open() async throws

    /// Decodes up to `pcm.count / channelCount` frames into `pcm`, which holds at least 1,152 × 2 samples.
    func decode(into pcm: UnsafeMutableBufferPointer<Int16>) async throws -> DecodeStep

    /// Continues at `time` from the start of the music; clamped to `0...duration`.
    func seek(to time: Duration) async throws -> SeekLanding

    /// The seek table as it is now, to be kept with the entry; empty when there is none worth it.
    func seekTable() -> [UInt8]

    /// Where the last seek really arrived, once that is known of an approximate landing; nil before, and
    /// after an exact one. `infoRevision` goes up with it, and all that is decoded counts from here.
    var correctedLanding: SeekLanding? { get }

    /// Looks through a slice of stored bytes that were not decoded yet, so that seeks there become exact
    /// and an approximate landing is corrected.
    ///
    /// For idle moments between two calls of `decode`: never waits for the network, and takes about a
    /// millisecond. False when there is nothing to look through now, which further stored bytes change.
    func scanStored() async throws -> Bool
}

extension AudioDecoder {
    package var correctedLanding: SeekLanding? { nil }

    package func scanStored() async throws -> Bool { false }
}

package enum DecodeStep: Sendable, Equatable {
    /// So many frames, at least 1, of `info.format` were written.
    case frames(Int)
    /// The format is another from here on (`info.format` has it); nothing was written.
    case formatChanged
    /// The music is over.
    case end
}

/// Where a seek arrived.
package struct SeekLanding: Sendable, Equatable {
    /// The frame that the next decode starts with, counted from the start of the music.
    package var frame: FrameCount
    /// Whether that count is the truth, or an estimate to be shown with `~`.
    package var isExact: Bool

    package init(frame: FrameCount, isExact: Bool) {
        self.frame = frame
        self.isExact = isExact
    }
}

/// What a decoder knows of its stream.
package struct StreamInfo: Sendable, Equatable {
    package var format: AudioFormat
    /// How long the music is, tags and gapless padding not counted; nil while unknown.
    package var duration: Duration?
    /// Whether `duration` is counted or stated by a header, not estimated.
    package var isDurationExact = false
    /// The mean number of bytes for one second of music, for read-ahead.
    package var bytesPerSecond: Double
    /// The offset of the first audio frame in the resource.
    package var audioStart: Int64 = 0
    package var tags = TrackTags()
    /// How loud the music says it is; nil where it says nothing.
    package var loudness: Loudness?
    /// Bytes between the frames decoded so far that were none: damage, and tags in mid-stream.
    package var skippedByteCount: Int64 = 0
    /// For display: `MPEG-1 Layer III`, `VBR`, ….
    package var codec: SafeText = ""

    package init(format: AudioFormat, bytesPerSecond: Double) {
        self.format = format
        self.bytesPerSecond = bytesPerSecond
    }
}
