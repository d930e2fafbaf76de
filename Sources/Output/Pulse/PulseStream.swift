import CPulse
import Media
import Synchronization
import System

/// One playback stream of one format: the end of the path, fed from the reader by the server's wishes.
///
/// Corked from its birth and at every pause; whether it takes frames is `isTaking`, which changes
/// together with the cork. Methods marked so are called with the main loop's lock held.
final class PulseStream: @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held, which callbacks hold too.

    let format: AudioFormat
    let reader: any PCMReader
    let bytesPerFrame: Int
    let mainloop: PulseMainloop
    let context: OpaquePointer
    let stream: OpaquePointer
    let onEvent: @Sendable (OutputEvent) -> Void
    private let patience: PulsePatience
    /// Gives up the connection; not with the lock held.
    private let giveUp: @Sendable () -> Void

    /// What `connect` waits for.
    let ready = OneShot<Bool>()
    /// The request that a task waits for: cork, uncork, flush or drain. The calls come one after the
    /// other, so there is one at most.
    var request: (operation: OpaquePointer, answer: OneShot<Bool>)?
    /// A drain that waits for the reader's last frames.
    var drainRequest: OneShot<Bool>?
    var isTaking = false
    var wasReady = false
    /// Gone, by its own end or by `close`.
    var isOver = false
    var isClosed = false
    var isUnderrunTold = false
    var position: PulsePosition
    var volume: PulseVolumeState
    var retainedForCallbacks: Unmanaged<PulseStream>?
    /// A question for this stream's volume, so that `close` can take its answer back.
    var volumeQuestion: OpaquePointer?
    /// The answer to it, between its two callbacks.
    var volumeHeard: PulseVolumeState.Level?
    /// Whether the server asked for frames when the reader had none.
    let isHungry = Atomic(false)
    /// Writes since the server was last asked for its clock.
    var writesSinceTiming = 0
    /// Whether its answer is on the way.
    var isAskingForTiming = false

    /// Makes the stream, not yet known to the server. With the lock held; nil when libpulse refuses.
    init?(
        on connection: PulseConnection,
        format: AudioFormat,
        title: SafeText,
        volume: PulseVolumeState,
        reader: any PCMReader,
        onEvent: @escaping @Sendable (OutputEvent) -> Void
    ) {
        var sample = pa_sample_spec(
            format: PulseTuning.sampleFormat,
            rate: UInt32(clamping: format.sampleRate),
            channels: UInt8(clamping: format.channelCount)
        )
        let context = connection.context
        let made = withPropertyList([(PA_PROP_MEDIA_ROLE, "music"), (PA_PROP_MEDIA_NAME, title.string)]) {
            pa_stream_new_with_proplist(context, title.string, &sample, nil, $0)
        }
        guard let made else { return nil }
        stream = made
        self.context = context
        self.format = format
        position = PulsePosition(format: format)
        self.reader = reader
        self.volume = volume
        self.onEvent = onEvent
        bytesPerFrame = format.bytesPerFrame
        mainloop = connection.mainloop
        patience = connection.patience
        // Weak: the connection keeps its stream.
        giveUp = { [weak connection] in connection?.giveUp() }
    }

    /// Asks the server for the stream, corked; false when it refuses, dies, does not answer in time, or the
    /// task is cancelled.
    func connect(to sink: String?) async -> Bool {
        mainloop.withLock {
            let retained = Unmanaged.passRetained(self)  // Released by `close`.
            retainedForCallbacks = retained
            let box = retained.toOpaque()
            pa_stream_set_state_callback(stream, { _, box in PulseStream.from(box)?.stateChanged() }, box)
            pa_stream_set_write_callback(stream, { _, size, box in PulseStream.wanted(size, box) }, box)
            pa_stream_set_underflow_callback(stream, { _, box in PulseStream.from(box)?.ranDry() }, box)
            // The music begins, also after an underrun: what the server said of its clock is void.
            pa_stream_set_started_callback(
                stream,
                { _, box in PulseStream.from(box)?.askForTiming() },
                box
            )
            pa_stream_set_latency_update_callback(stream, { _, box in PulseStream.from(box)?.timed() }, box)
            // Another sink is as late as it is: the clock is asked anew.
            pa_stream_set_moved_callback(stream, { _, box in PulseStream.from(box)?.askForTiming() }, box)
            pa_stream_set_suspended_callback(stream, { _, box in PulseStream.from(box)?.suspended() }, box)
            pa_stream_set_event_callback(
                stream,
                { _, name, _, box in PulseStream.from(box)?.told(name) },
                box
            )
            var attributes = PulseTuning.bufferAttributes(for: format)
            // No volume: an initial one makes servers with flat volumes jump.
            if pa_stream_connect_playback(stream, sink, &attributes, PA_STREAM_START_CORKED, nil, nil) < 0 {
                ready.give(false)
            }
        }
        return await patience.watching(giveUp) { await ready.wait(ifCancelled: false) }
    }

    /// Fills the server's buffer and lets it play. False when the stream is gone.
    func start() async -> Bool {
        await perform {
            isTaking = true
            isUnderrunTold = false
            fill(pa_stream_writable_size(stream))
            return pa_stream_cork(stream, 0, PulseStream.answered, box)
        }
    }

    /// Corks the stream. From the first line on the reader is left alone.
    func pause() async {
        _ = await perform {
            stopTaking()
            return pa_stream_cork(stream, 1, PulseStream.answered, box)
        }
    }

    /// Empties the server's buffer. While playing the server would run on through it.
    func flush() async {
        _ = await perform {
            guard !isTaking else { return nil }
            position.flushed()
            return pa_stream_flush(stream, PulseStream.answered, box)
        }
    }

    /// Returns when all was heard; at once while corked, since a corked stream never drains.
    ///
    /// Without a limit, since a suspended sink drains when it goes on; cancelling the task ends it.
    func drain() async {
        let answer = OneShot<Bool>()
        let isDraining = mainloop.withLock {
            guard isTaking, !isOver else { return false }
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
            if isDrained { position.flushed() }
        }
    }

    /// The writer's word that frames are there. Costs one atomic exchange when none are wanted.
    func framesAvailable() {
        // An exchange on both sides: either the writer sees the hunger, or the mainloop's second
        // look at the reader, after its own exchange, sees the frames.
        guard isHungry.exchange(false, ordering: .acquiringAndReleasing) else { return }
        mainloop.withLock {
            guard isTaking, !isOver else { return }
            fill(pa_stream_writable_size(stream))
            drainIfWritten()
        }
    }

    /// Frames that were heard or flushed, as well as the server's clock can tell.
    var heardFrames: FrameCount {
        mainloop.withLock {
            if isTaking {
                position.moved(to: Self.now)
                // Whoever looks at a position that stands wants to see when it starts to move.
                if !position.isRunning, !isAskingForTiming, !isSuspended { askForTiming() }
            }
            return position.heard
        }
    }

    func setVolume(_ level: PulseVolumeState.Level) {
        mainloop.withLock {
            volume.chosen(level)
            applyVolume()
        }
    }

    func setTitle(_ title: SafeText) {
        mainloop.withLock {
            guard isReady else { return }
            forget(pa_stream_set_name(stream, title.string, nil, nil))
        }
    }

    /// Runs one request and waits for its answer; false when it failed, none came in time, or the task was
    /// cancelled.
    private func perform(_ begin: () -> OpaquePointer?) async -> Bool {
        let answer = OneShot<Bool>()
        let isUnderway = mainloop.withLock {
            guard isReady, let operation = begin() else { return false }
            dropRequest()
            request = (operation, answer)
            return true
        }
        guard isUnderway else { return false }
        let isDone = await patience.watching(giveUp) { await answer.wait(ifCancelled: false) }
        mainloop.withLock { if request?.answer === answer { dropRequest() } }
        return isDone
    }
}
