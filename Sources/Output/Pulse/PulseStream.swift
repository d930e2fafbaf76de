import CPulse
import Media
import Synchronization
import System

/// One playback stream of one format: it fills the server's buffer from the reader whenever the server
/// requests frames.
///
/// The stream is corked when created and at every pause; `PulseClock.isTaking` changes together with the
/// cork.
final class PulseStream: CallbackContext, @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held, which callbacks hold too.

    /// The length of the server's buffer: short enough that a volume change or a seek does not feel late,
    /// long enough for a machine that is busy compiling. libpulse's default is two seconds.
    private static let bufferLength = Duration.milliseconds(250)

    /// The smallest request of the server: 20 wake-ups per second at most.
    private static let smallestRequest = Duration.milliseconds(50)

    private let reader: any PCMReader
    private let bytesPerFrame: Int
    private let format: AudioFormat
    private let mainloop: PulseMainloop
    private let context: OpaquePointer
    private let stream: OpaquePointer
    private let clock: PulseClock
    private let volume: PulseVolume
    private let onEvent: @Sendable (OutputEvent) -> Void
    /// Weak: the connection owns its stream.
    private weak var connection: PulseConnection?

    /// Completed when the server has created the stream.
    private let ready = OneShot<Bool>()
    /// The request that a task waits for: cork, uncork, flush or drain. An output's calls come one after the
    /// other, so there is at most one.
    private var request: (operation: OpaquePointer, answer: OneShot<Bool>)?
    /// A drain that waits for the reader's last frames.
    private var drainRequest: OneShot<Bool>?
    private var wasReady = false
    /// `true` once the stream has ended, by itself or by `close`.
    private var isOver = false
    private var isClosed = false
    private var isUnderrunReported = false
    private var retainedForCallbacks: Unmanaged<PulseStream>?
    /// `true` if the server requested frames when the reader had none.
    private let needsFrames = Atomic(false)

    /// Creates the stream object without contacting the server. Call it with the lock held; `nil` if libpulse
    /// refuses.
    init?(
        on connection: PulseConnection,
        format: AudioFormat,
        title: SoundTitle,
        volume: PulseVolumeState,
        reader: any PCMReader,
        onEvent: @escaping @Sendable (OutputEvent) -> Void
    ) {
        var sample = PulseFormat.sampleSpec(of: format)
        var channels = PulseFormat.channelMap(of: format)
        let context = connection.context
        let properties = [
            (PA_PROP_MEDIA_ROLE, "music"), (PA_PROP_MEDIA_ICON_NAME, PulseConnection.iconName),
        ]
        let made = withPropertyList(properties + Self.properties(of: title)) {
            pa_stream_new_with_proplist(context, title.name.string, &sample, &channels, $0)
        }
        guard let made else { return nil }
        stream = made
        self.context = context
        self.format = format
        self.reader = reader
        self.onEvent = onEvent
        bytesPerFrame = format.bytesPerFrame
        clock = PulseClock(of: made, format: format)
        self.volume = PulseVolume(
            of: made,
            in: context,
            channelCount: format.channelCount,
            state: volume,
            onChange: { onEvent(.volumeChanged(percent: $0.percent, isMuted: $0.isMuted)) }
        )
        mainloop = connection.mainloop
        self.connection = connection
    }

    // MARK: From the output

    /// Creates the stream at the server, corked. Returns `false` if the server refuses, dies or does not
    /// reply in time, or if the task is cancelled.
    func connect(to sink: String?) async -> Bool {
        mainloop.withLock {
            let retained = Unmanaged.passRetained(self)  // Released by `close`.
            retainedForCallbacks = retained
            setCallbacks(retained.toOpaque())
            let serverDecides = UInt32.max
            var attributes = pa_buffer_attr(
                maxlength: serverDecides,
                tlength: bytes(in: Self.bufferLength),
                // One frame: with none, the server plays silence in an underrun while its read index
                // advances, and drops the frames that arrive late. With more, a track paused in its last
                // moments would stay silent when resumed, since fewer frames than that are left.
                prebuf: UInt32(clamping: bytesPerFrame),
                minreq: bytes(in: Self.smallestRequest),
                fragsize: serverDecides
            )
            // No initial volume: on servers with flat volumes it would make the sink's volume jump.
            if pa_stream_connect_playback(stream, sink, &attributes, PA_STREAM_START_CORKED, nil, nil) < 0 {
                ready.give(false)
            }
        }
        return await connection?.withTimeLimit { await ready.wait(ifCancelled: false) } ?? false
    }

    private func bytes(in time: Duration) -> UInt32 {
        UInt32(clamping: format.frames(in: time) * Int64(bytesPerFrame))
    }

    /// Fills the server's buffer and starts playback, and ends the stream before this one. Returns `false` if
    /// the stream was lost.
    func start() async -> Bool {
        let isPlaying = await perform {
            clock.started()
            isUnderrunReported = false
            fill(pa_stream_writable_size(stream))
            return pa_stream_cork(stream, 0, PulseStream.answered, box)
        }
        mainloop.withLock { connection?.endPrevious() }
        return isPlaying
    }

    /// Corks the stream. From the start of the call, the reader is not used.
    func pause() async {
        _ = await perform {
            clock.stopped()
            connection?.endPrevious()
            return pa_stream_cork(stream, 1, PulseStream.answered, box)
        }
    }

    /// Empties the server's buffer. Does nothing unless the stream is corked: otherwise the server would keep
    /// playing during the flush.
    func flush() async {
        _ = await perform {
            guard !clock.isTaking else { return nil }
            clock.position.flushed()
            return pa_stream_flush(stream, PulseStream.answered, box)
        }
    }

    /// Returns when all frames have been heard; at once while corked, since a corked stream never drains.
    ///
    /// Without a time limit, since a suspended sink drains once it is resumed; cancelling the task ends it.
    func drain() async {
        let answer = OneShot<Bool>()
        let isDraining = mainloop.withLock {
            guard clock.isTaking, !isOver else { return false }
            drainRequest = answer
            fill(pa_stream_writable_size(stream))
            drainIfWritten()
            return true
        }
        guard isDraining else { return }
        let isDrained = await answer.wait(ifCancelled: false)
        mainloop.withLock {
            drainRequest = nil
            if request?.answer === answer { dropRequest() }
            if isDrained { clock.position.flushed() }
        }
    }

    /// The reader has frames. Costs one atomic exchange if the server has not requested any.
    func framesAvailable() {
        // This exchange and the one in `fill` have a total order. If the one in `fill` is first, this one
        // returns its `true`. If this one is first, `fill` reads again after its own and finds the frames
        // written before this call.
        guard needsFrames.exchange(false, ordering: .acquiringAndReleasing) else { return }
        mainloop.withLock {
            guard clock.isTaking, !isOver else { return }
            fill(pa_stream_writable_size(stream))
            drainIfWritten()
        }
    }

    var heardFrames: FrameCount { mainloop.withLock { clock.heard } }

    func setVolume(_ level: PulseVolumeState.Level) {
        mainloop.withLock { volume.choose(level, isReady: isReady) }
    }

    func setTitle(_ title: SoundTitle) {
        mainloop.withLock {
            guard isReady else { return }
            withPropertyList(Self.properties(of: title)) {
                forget(pa_stream_proplist_update(stream, PA_UPDATE_REPLACE, $0, nil, nil))
            }
        }
    }

    /// Mixers show the name, desktops the rest. An artist that is unknown replaces the one before.
    private static func properties(of title: SoundTitle) -> [(String, String)] {
        [
            (PA_PROP_MEDIA_NAME, title.name.string), (PA_PROP_MEDIA_TITLE, title.title.string),
            (PA_PROP_MEDIA_ARTIST, title.artist?.string ?? ""),
        ]
    }

    /// Sends one request and waits for its reply. Returns `false` if it failed, if no reply came in time, or
    /// if the task was cancelled.
    private func perform(_ begin: () -> OpaquePointer?) async -> Bool {
        let answer = OneShot<Bool>()
        let isUnderway = mainloop.withLock {
            guard isReady, let operation = begin() else { return false }
            dropRequest()
            request = (operation, answer)
            return true
        }
        guard isUnderway else { return false }
        let isDone = await connection?.withTimeLimit { await answer.wait(ifCancelled: false) } ?? false
        mainloop.withLock { if request?.answer === answer { dropRequest() } }
        return isDone
    }

    // MARK: On libpulse's thread, or with the main loop's lock held

    /// The pointer by which callbacks find their stream. It stays valid until `close` removes them.
    private var box: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private var isReady: Bool { !isOver && pa_stream_get_state(stream) == PA_STREAM_READY }

    /// Sets the callbacks. `box` is a pointer to this stream; with `nil` the callbacks do nothing.
    private func setCallbacks(_ box: UnsafeMutableRawPointer?) {
        pa_stream_set_state_callback(stream, { _, box in PulseStream.from(box)?.stateChanged() }, box)
        pa_stream_set_write_callback(stream, { _, size, box in PulseStream.wanted(size, box) }, box)
        pa_stream_set_underflow_callback(stream, { _, box in PulseStream.from(box)?.ranDry() }, box)
        pa_stream_set_latency_update_callback(
            stream,
            { _, box in PulseStream.from(box)?.clock.answered() },
            box
        )
        pa_stream_set_suspended_callback(
            stream,
            { _, box in PulseStream.from(box)?.clock.suspensionChanged() },
            box
        )
        pa_stream_set_event_callback(stream, { PulseStream.from($3)?.policyAsked($1) }, box)
        // Playback starts, for the first time or after an underrun: earlier reports of the server's clock are
        // outdated.
        pa_stream_set_started_callback(stream, { _, box in PulseStream.from(box)?.clock.ask() }, box)
        // Another sink has another latency.
        pa_stream_set_moved_callback(stream, { _, box in PulseStream.from(box)?.clock.ask() }, box)
    }

    /// The write callback: the server has room for `size` bytes.
    ///
    /// It must never be late: it copies from the ring into the server's memory, counts and returns, without
    /// allocating, locking, logging or starting tasks. This does not cover the internals of libpulse's calls.
    private static func wanted(_ size: Int, _ box: UnsafeMutableRawPointer?) {
        guard let box else { return }
        // Not `takeUnretainedValue`, to avoid reference counting on the audio thread.
        Unmanaged<PulseStream>.fromOpaque(box)._withUnsafeGuaranteedRef { stream in
            guard stream.clock.isTaking else { return }
            stream.fill(size)
            stream.clock.wrote()
            stream.drainIfWritten()
        }
    }

    /// Copies whole frames from the reader into the server's buffer, up to `size` bytes.
    private func fill(_ size: Int) {
        // `pa_stream_writable_size` returns (size_t) -1 for a stream that is gone.
        guard size > 0, isReady else { return }
        var rest = size - size % bytesPerFrame
        while rest > 0 {
            var room = rest
            var memory: UnsafeMutableRawPointer?
            guard pa_stream_begin_write(stream, &memory, &room) == 0, let memory else { return }
            room = min(room, rest)
            room -= room % bytesPerFrame
            let target = UnsafeMutableRawBufferPointer(start: memory, count: room)
            var count = reader.read(into: target)
            if count == 0 {
                _ = needsFrames.exchange(true, ordering: .acquiringAndReleasing)
                // Read again: frames that arrived before `needsFrames` was set are not announced.
                count = reader.read(into: target)
            }
            guard count > 0, pa_stream_write(stream, memory, count, nil, 0, PA_SEEK_RELATIVE) == 0 else {
                pa_stream_cancel_write(stream)
                return
            }
            clock.position.took(FrameCount(count / bytesPerFrame))
            rest -= count
        }
    }

    /// Asks the server to drain once it has been given all frames.
    private func drainIfWritten() {
        guard let answer = drainRequest, reader.isFinished, reader.availableBytes == 0, isReady else {
            return
        }
        drainRequest = nil
        dropRequest()
        guard let operation = pa_stream_drain(stream, Self.answered, box) else { return answer.give(false) }
        request = (operation, answer)
    }

    /// The server's reply to the one request in progress.
    private static let answered: pa_stream_success_cb_t = { _, isSuccess, box in
        guard let stream = PulseStream.from(box), !stream.isOver else { return }
        // The server's clock starts or stops with each of these requests.
        stream.clock.ask()
        stream.request?.answer.give(isSuccess != 0)
    }

    /// Cancels the request in progress: its callback is not called any more.
    private func dropRequest() {
        guard let request else { return }
        if pa_operation_get_state(request.operation) == PA_OPERATION_RUNNING {
            pa_operation_cancel(request.operation)
        }
        pa_operation_unref(request.operation)
        request.answer.give(false)
        self.request = nil
    }

    private func stateChanged() {
        guard !isOver else { return }
        switch pa_stream_get_state(stream) {
        case PA_STREAM_READY:
            wasReady = true
            ready.give(true)
            volume.streamIsReady()
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            let isAlone = pa_context_get_state(context) == PA_CONTEXT_READY
            lost()
            // The connection reports its own loss.
            guard wasReady, isAlone else { return }
            onEvent(.lost(MediaError(.audioLost, "PulseAudio", "the sound server ended the stream")))
        default:
            break  // Still being created.
        }
    }

    /// The server's buffer is empty. The server may report this although the reader has frames by now; then
    /// it is not an underrun.
    private func ranDry() {
        guard clock.isTaking, !isUnderrunReported else { return }
        let before = clock.position.taken
        fill(pa_stream_writable_size(stream))
        guard clock.position.taken == before, !reader.isFinished, reader.availableBytes == 0 else { return }
        isUnderrunReported = true
        onEvent(.underrun)
    }

    private func policyAsked(_ name: UnsafePointer<CChar>?) {
        switch name.map(String.init(cString:)) {
        case PA_STREAM_EVENT_REQUEST_CORK: onEvent(.pauseRequested)
        case PA_STREAM_EVENT_REQUEST_UNCORK: onEvent(.resumeRequested)
        default: break  // Events of later servers.
        }
    }

    /// The name of the sink at which the stream is; `nil` if the server has no such stream.
    var sink: String? { isReady ? pa_stream_get_device_name(stream).map(String.init(cString:)) : nil }

    /// Lets the stream play on another sink. The server refuses if there is no such sink.
    func move(to sink: String) {
        guard isReady else { return }
        forget(
            pa_context_move_sink_input_by_name(context, pa_stream_get_index(stream), sink, nil, nil)
        )
    }

    func inputChanged(_ index: UInt32) { if isReady { volume.inputChanged(index) } }

    /// The stream is gone: every wait for it ends.
    func lost() {
        clock.stopped()
        isOver = true
        ready.give(false)
        dropRequest()
        drainRequest?.give(false)
        drainRequest = nil
        volume.close()
    }

    /// Ends all use of the stream, which the server keeps until `close`. No callback is called afterwards.
    func retire() {
        lost()
        setCallbacks(nil)
    }

    /// Ends the stream at the server. No callback is called afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        retire()
        // Without this the server keeps the stream until the connection ends.
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
        retainedForCallbacks?.release()
        retainedForCallbacks = nil
    }
}
