/// Where PCM comes from, as the audio thread sees it.
///
/// `read` is called on the audio thread: it neither allocates, locks nor waits.
package protocol PCMReader: AnyObject, Sendable {
    /// Copies up to `buffer.count` bytes of whole frames and returns the bytes copied;
    /// 0 when there is nothing now.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int

    /// Bytes that `read` would give now.
    var availableBytes: Int { get }

    /// Whether the writer has ended: an empty reader then is the end and not an underrun.
    var isFinished: Bool { get }
}

/// A sink for PCM.
///
/// Life: `connect` · (`open` · (`start` · `pause`)* · `flush`? · `drain`?)* · `close`. The calls come
/// from one task, one after the other. After `open`, `pause` and `flush` the reader is not touched
/// until `start`.
package protocol AudioOutput: AnyObject, Sendable {
    /// Whether frames are taken at the speed they are heard. Only then can the music run late.
    var isRealTime: Bool { get }

    /// Whether each track wants an `open` of its own, also when the format stays: files numbered by `%n`.
    var opensEachTrack: Bool { get }

    /// Reaches the audio server or makes the file; throws `MediaError` with `.audioServer` or `.sinkFailed`.
    func connect() async throws

    /// Makes ready for `format`, paused. Opening again drops what was not heard and starts counting anew.
    func open(_ format: AudioFormat, reader: any PCMReader) async throws

    /// Plays from the reader, and returns when the first frames have been taken (or there are none).
    func start() async throws

    /// Stands still, keeping what was taken but not heard for the next `start`.
    func pause() async

    /// Drops what was taken but not heard. Only while paused.
    func flush() async

    /// Returns when all that the reader has given, and its rest up to `isFinished`, was heard.
    /// Only while started. Ends early, without error, when the task is cancelled.
    func drain() async

    /// Lets go of the device. Never waits for it.
    func close() async

    /// Says that the reader has frames again, or is finished. Cheap; from any thread.
    func framesAvailable()

    /// Frames taken since `open` that were heard or flushed by now: taken minus latency.
    var heardFrames: FrameCount { get }

    /// Sets the volume in percent, 0...100. Sinks without one ignore it.
    func setVolume(_ percent: Int, isMuted: Bool)

    /// What the audio server shows as the stream's name.
    func setTitle(_ title: SafeText)

    /// Called from any thread, for each event; set once before `open`; what happens before is told by
    /// what `connect` and `open` throw.
    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void)
}

extension AudioOutput {
    /// Consecutive tracks of one format are one stream, without a gap.
    package var opensEachTrack: Bool { false }
}

package enum OutputEvent: Sendable, Equatable {
    /// The device wanted frames, the reader had none and is not finished. Told once until `start`.
    case underrun
    /// The server is gone, with a reason for the listener. `connect` and `open` may be tried again.
    case lost(MediaError)
    /// A policy of the server asks to pause (a call), or to go on.
    case pauseRequested
    case resumeRequested
    /// The volume was changed elsewhere.
    case volumeChanged(percent: Int, isMuted: Bool)
}
