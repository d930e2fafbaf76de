/// The source of PCM for the audio thread.
///
/// `read` is called on the audio thread, so it must not allocate, lock or wait.
package protocol PCMReader: AnyObject, Sendable {
    /// Copies up to `buffer.count` bytes of whole frames and returns the number of bytes copied;
    /// 0 if there are none now.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int

    /// The bytes that `read` would copy now.
    var availableBytes: Int { get }

    /// `true` if the writer has ended: then an empty reader means the end, not an underrun.
    var isFinished: Bool { get }
}

/// The tracks that may follow the previous one in the open stream of a sink.
package enum TrackJoining: Sendable, Equatable {
    /// None, as when each goes to a file numbered by `%n`.
    case never
    /// Tracks with the stream's rate and channels whose samples stay exact: in the same format, or 16 bits in
    /// a wider one.
    case exactly
    /// Also tracks with 32-bit samples, rounded to the stream's format: integers keep 24 bits in floating
    /// point, and floating point may become 16 bits. Integers of 32 bits never become 16 bits, because their
    /// listeners expect more: such tracks get a stream of their own.
    case rounding

    /// `true` if music in `format` may follow in an open stream of the format `stream`.
    package func allows(_ format: AudioFormat, in stream: AudioFormat) -> Bool {
        guard self != .never, format.sampleRate == stream.sampleRate, format.channels == stream.channels
        else { return false }
        if format.sample == stream.sample || format.sample == .s16 { return true }
        return self == .rounding && (format.sample == .f32 || stream.sample != .s16)
    }
}

/// A sink for PCM.
///
/// Order of calls: `connect` · (`open` · (`start` · `pause`)* · `flush`? · `drain`?)* · `close`. They come
/// from one task, one after the other. After `open`, `pause` or `flush`, the output does not read from the
/// reader until `start`.
package protocol AudioOutput: AnyObject, Sendable {
    /// `true` if the sink takes frames at the speed of playback. Only then can playback stall.
    var isRealTime: Bool { get }

    /// The tracks that may follow the previous one without an `open` of their own, and so without a gap.
    var joining: TrackJoining { get }

    /// Connects to the audio server or creates the file; throws `MediaError` with `.audioServer` or
    /// `.sinkFailed`.
    func connect() async throws

    /// Prepares a paused stream of `format`. Opening again drops unheard frames and restarts the count.
    ///
    /// Throws `MediaError` with `.sinkFormat` if the sink cannot take the format.
    func open(_ format: AudioFormat, reader: any PCMReader) async throws

    /// Plays from the reader. Returns when the first frames have been taken, or if there are none.
    func start() async throws

    /// Pauses. Frames that were taken but not heard stay for the next `start`.
    func pause() async

    /// Drops frames that were taken but not heard. Only while paused.
    func flush() async

    /// Returns when all frames up to the reader's end were heard. Only allowed while started. Ends early,
    /// without error, if the task is cancelled.
    func drain() async

    /// Closes the device without waiting for it.
    func close() async

    /// Tells the output that the reader has frames again or is finished; the caller must do so each time.
    /// Cheap; may be called from any thread.
    func framesAvailable()

    /// The number of frames that were heard or flushed since `open`: those taken minus those still in the
    /// latency of the device.
    var heardFrames: FrameCount { get }

    /// Sets the volume in percent, 0...100. Sinks without a volume control ignore it.
    func setVolume(_ percent: Int, isMuted: Bool)

    /// Sets what the audio server and the desktop show as playing. Sinks without an audio server ignore it.
    func setTitle(_ title: SoundTitle)

    /// The devices that `setDevice` can choose; empty without an audio server that answers. May be called
    /// from any task.
    func devices() async -> [SoundDevice]

    /// Chooses the device with this name, for later streams too; `nil` follows the server's default. While
    /// the device is not there, the sound goes where the server sends it. Sinks without an audio server
    /// ignore it.
    func setDevice(_ name: String?)

    /// Sets the handler of events, which is called from any thread. It is set once, before `open`; `connect`
    /// and `open` throw the errors that occur until then.
    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void)
}

extension AudioOutput {
    /// By default, nothing is rounded.
    package var joining: TrackJoining { .exactly }

    package func setVolume(_ percent: Int, isMuted: Bool) {}

    package func setTitle(_ title: SoundTitle) {}

    package func devices() async -> [SoundDevice] { [] }

    package func setDevice(_ name: String?) {}
}

/// A device to which an audio server can send the sound, such as a loudspeaker.
package struct SoundDevice: Sendable, Equatable {
    /// The name by which the server knows it, also after a restart.
    package let name: String
    /// The name for people.
    package let title: SafeText
    /// `true` if the sound goes there.
    package var isCurrent = false

    package init(_ name: String, title: SafeText, isCurrent: Bool = false) {
        self.name = name
        self.title = title
        self.isCurrent = isCurrent
    }
}

/// The music that an output plays, as mixers and the desktop name it.
package struct SoundTitle: Sendable, Equatable {
    package var title: SafeText
    /// Of a live stream, the station; `nil` if unknown.
    package var artist: SafeText?

    package init(_ title: SafeText, by artist: SafeText? = nil) {
        self.title = title
        self.artist = artist
    }

    /// Both in one line.
    package var name: SafeText { TrackName.text(title, artist) }
}

package enum OutputEvent: Sendable, Equatable {
    /// The device needed frames, but the reader has none and is not finished. Sent at most once after each
    /// `start`.
    case underrun
    /// The connection to the server was lost, with a reason for the user. `connect` and `open` may be
    /// retried.
    case lost(MediaError)
    /// The server asks to pause, for example for a call, or to resume.
    case pauseRequested
    case resumeRequested
    /// The volume was changed elsewhere.
    case volumeChanged(percent: Int, isMuted: Bool)
}
