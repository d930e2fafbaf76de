import CPulse
import Media

/// The numbers of a playback stream, and why they are so.
enum PulseTuning {
    /// What the server holds of us: short enough for a volume curve or a seek not to feel late, long
    /// enough for a machine that is busy compiling. The default of libpulse is two seconds.
    static let bufferLength = Duration.milliseconds(250)

    /// The smallest wish of the server: 20 wake-ups per second at most.
    static let smallestRequest = Duration.milliseconds(50)

    /// One clock question per half a second of `smallestRequest`s; libpulse interpolates in between.
    static let writesPerTiming = 10

    /// No sink has more; a greater latency is one of the bogus values that servers return after
    /// quick pauses.
    static let longestLatencyMicroseconds: pa_usec_t = 10_000_000

    static let sampleFormat = PA_SAMPLE_S16LE

    /// A prebuffer of one frame: with none the server plays silence through an underrun, its read index
    /// running ahead, and drops the frames that come late; with more, the last moments of a track
    /// that was paused there would stay silent.
    static func bufferAttributes(for format: AudioFormat) -> pa_buffer_attr {
        let serverDecides = UInt32.max
        return pa_buffer_attr(
            maxlength: serverDecides,
            tlength: bytes(in: bufferLength, of: format),
            prebuf: UInt32(clamping: format.bytesPerFrame),
            minreq: bytes(in: smallestRequest, of: format),
            fragsize: serverDecides
        )
    }

    private static func bytes(in time: Duration, of format: AudioFormat) -> UInt32 {
        UInt32(clamping: format.frames(in: time) * Int64(format.bytesPerFrame))
    }
}
