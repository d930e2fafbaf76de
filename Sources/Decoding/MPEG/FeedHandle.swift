import CMpg123
import Media

/// The one owner of a libmpg123 handle in feed mode (mpg123.h), which never reads or waits by itself.
///
/// Set up as the reference decoder is, but for gapless trimming, which is `GaplessTrim`'s: quiet, all rates,
/// mono or stereo as in the stream, signed 16-bit samples, up to 64 KiB of damage passed over.
final class FeedHandle {
    /// What the next step brought.
    enum Step {
        /// One decoded MPEG frame.
        case frame(Frame)
        /// From here on samples have this format.
        case format(AudioFormat)
        /// All fed bytes are used up.
        case needMore
        /// Nothing can be decoded any more: more damage than the limit, or an end.
        case end
    }

    struct Frame {
        /// Counts the frames since the jump.
        var number: Int64
        /// The bytes fed before the frame.
        var offset: Int64
        /// The length of the frame with its header.
        var byteCount: Int64
        /// Its samples, interleaved, valid until the next call.
        var samples: UnsafeBufferPointer<Int16>
    }

    /// The bytes of damage after which the reference decoder gives up.
    static let resyncLimit = 65_536

    private let pointer: OpaquePointer
    private let subject: SafeText

    init(subject: SafeText) throws(MediaError) {
        self.subject = subject
        var status = CInt(MPG123_OK.rawValue)
        guard mpg123_init() == CInt(MPG123_OK.rawValue), let pointer = mpg123_new(nil, &status) else {
            throw Self.failure(status, subject)
        }
        self.pointer = pointer
        try check(reprise_mpg123_configure(pointer, Self.resyncLimit))
        try check(mpg123_open_feed(pointer))
    }

    deinit { mpg123_delete(pointer) }

    /// Forgets all that was fed, as for a new stream: where every jump begins.
    func reopen() throws(MediaError) {
        try check(mpg123_open_feed(pointer))
    }

    /// Copies `bytes` in behind what was fed before.
    func feed(_ bytes: ArraySlice<UInt8>) throws(MediaError) {
        let status = bytes.withUnsafeBufferPointer { mpg123_feed(pointer, $0.baseAddress, $0.count) }
        try check(status)
    }

    /// Decodes one frame of what was fed.
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
            // Bytes that cannot be decoded end the music, as they do for the reference decoder.
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
