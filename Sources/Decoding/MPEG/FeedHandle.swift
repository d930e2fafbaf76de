import CMpg123
import Media

/// Owns a libmpg123 handle in feed mode (mpg123.h), which never reads or waits on its own.
///
/// Configured like the reference decoder, except for gapless trimming, which `GaplessTrim` does: quiet, all
/// rates, mono or stereo as in the stream, signed 16-bit samples, skipping up to 64 KiB of damage.
final class FeedHandle {
    enum Step {
        case frame(Frame)
        /// Samples have this format from here on.
        case format(AudioFormat)
        /// All bytes that were fed are used up.
        case needMore
        /// Nothing more can be decoded: the stream ended, or the damage exceeds the limit.
        case end
    }

    struct Frame {
        /// The number of the frame, counted from 0 since the last `reopen`.
        var number: Int64
        /// The number of bytes fed before the frame since the last `reopen`.
        var offset: Int64
        /// The length of the frame with its header.
        var byteCount: Int64
        /// Its interleaved samples, valid until the next call.
        var samples: UnsafeBufferPointer<Int16>
    }

    /// The number of damaged bytes after which the reference decoder gives up.
    static let resyncLimit = 65_536

    private let pointer: OpaquePointer
    private let subject: SafeText

    /// `getsWholeFrames` states that each `feed` brings one frame, which `next` then decodes at once.
    init(subject: SafeText, getsWholeFrames: Bool = false) throws(MediaError) {
        self.subject = subject
        var status = CInt(MPG123_OK.rawValue)
        guard mpg123_init() == CInt(MPG123_OK.rawValue), let pointer = mpg123_new(nil, &status) else {
            throw Self.failure(status, subject)
        }
        self.pointer = pointer
        try check(reprise_mpg123_configure(pointer, Self.resyncLimit, getsWholeFrames ? 1 : 0))
        try check(mpg123_open_feed(pointer))
    }

    deinit { mpg123_delete(pointer) }

    /// Drops all bytes that were fed, to begin a new stream. Every seek calls this.
    func reopen() throws(MediaError) { try check(mpg123_open_feed(pointer)) }

    func feed(_ bytes: ArraySlice<UInt8>) throws(MediaError) {
        let status = bytes.withUnsafeBufferPointer { mpg123_feed(pointer, $0.baseAddress, $0.count) }
        try check(status)
    }

    /// Decodes one frame from the bytes that were fed.
    func next() throws(MediaError) -> Step {
        var number: off_t = 0
        var audio: UnsafeMutablePointer<UInt8>?
        var byteCount = 0
        let status = mpg123_decode_frame(pointer, &number, &audio, &byteCount)
        switch status {
        case CInt(MPG123_OK.rawValue):
            let raw = UnsafeRawBufferPointer(start: audio, count: audio == nil ? 0 : byteCount)
            // libmpg123 aligns its output buffer for every sample type.
            let samples = raw.assumingMemoryBound(to: Int16.self)
            var information = mpg123_frameinfo2()
            try check(mpg123_info2(pointer, &information))
            let place = Int64(mpg123_framepos(pointer))
            let length = Int64(information.framesize)
            return .frame(Frame(number: Int64(number), offset: place, byteCount: length, samples: samples))
        case CInt(MPG123_NEW_FORMAT.rawValue):
            var rate = 0
            var channels: CInt = 0
            var encoding: CInt = 0
            try check(mpg123_getformat(pointer, &rate, &channels, &encoding))
            guard rate > 0, (1...2).contains(channels) else { throw Self.failure(status, subject) }
            return .format(AudioFormat(sampleRate: rate, channelCount: Int(channels)))
        case CInt(MPG123_NEED_MORE.rawValue): return .needMore
        case CInt(MPG123_DONE.rawValue): return .end
        default:
            // Undecodable bytes end the music, as in the reference decoder.
            guard mpg123_errcode(pointer) != CInt(MPG123_OUT_OF_MEM.rawValue) else {
                throw Self.failure(status, subject)
            }
            return .end
        }
    }

    private func check(_ status: CInt) throws(MediaError) {
        guard status == CInt(MPG123_OK.rawValue) else { throw Self.failure(status, subject) }
    }

    private static func failure(_ status: CInt, _ subject: SafeText) -> MediaError {
        let words = mpg123_plain_strerror(status).map { String(cString: $0) } ?? "error \(status)"
        return MediaError(.decodingFailed, subject, SafeText("the MP3 decoder failed (\(words))"))
    }
}

/// The position in the stream of the bytes fed since `open` or the last seek.
struct FeedPosition {
    /// The number of the first MPEG frame of these bytes: exact or an estimate; see `isExact`.
    var firstFrame: Int64
    /// The offset in the resource of the first byte fed.
    var start: Int64
    /// `true` if `firstFrame` is exact.
    var isExact: Bool
    /// The first sample to play; the frames before it only prime the decoder.
    var wantedSample: FrameCount
    /// `true` once the music has ended.
    var isAtEnd = false
    /// Bytes that were read but not fed yet.
    var pending: [UInt8] = []
    var fedByteCount: Int64 = 0
    /// The number of the last frame that was decoded; `nil` until then.
    var lastFrame: Int64?
    /// The offset of the first decoded frame; `nil` until then.
    var firstPlace: Int64?
    /// The offset after the last decoded frame.
    var lastEnd: Int64 = 0
    /// The first frame of another rate or number of samples, and the length of the music decoded from there
    /// on. Positions there cannot be computed from frame numbers.
    var turn: (frame: Int64, length: Duration)?

    /// Records that frame `frame` was decoded, `byteCount` bytes at offset `place`.
    ///
    /// Returns how many bytes were skipped since the previous frame; 0 for the first frame, because headers
    /// and tags may precede it.
    mutating func advance(to frame: Int64, at place: Int64, byteCount: Int64) -> Int64 {
        let skipped = firstPlace == nil ? 0 : max(0, place - lastEnd)
        firstPlace = firstPlace ?? place
        lastFrame = frame
        lastEnd = place + byteCount
        return skipped
    }
}
