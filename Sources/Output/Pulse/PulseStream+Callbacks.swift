import CPulse
import Media
import System
import Synchronization

/// What runs on libpulse's thread, or for it with the main loop's lock held.
///
/// `wanted` is the one that must never be late: it copies from the ring into the server's own
/// memory, counts and returns, without allocating, locking, logging or handing anything to a task. What
/// libpulse itself does inside its calls is its own.
extension PulseStream {
    /// The address that callbacks find their stream by. It stays valid until `close` takes them away.
    var box: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    var isReady: Bool { !isOver && pa_stream_get_state(stream) == PA_STREAM_READY }

    static func from(_ box: UnsafeMutableRawPointer?) -> PulseStream? {
        box.map { Unmanaged<PulseStream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The write callback: the server has room for `size` bytes.
    static func wanted(_ size: Int, _ box: UnsafeMutableRawPointer?) {
        guard let box else { return }
        // Not `takeUnretainedValue`, whose reference counting the audio thread can do without.
        Unmanaged<PulseStream>.fromOpaque(box)._withUnsafeGuaranteedRef { stream in
            guard stream.isTaking else { return }
            stream.fill(size)
            stream.keepTime()
            stream.drainIfWritten()
        }
    }

    /// Copies whole frames from the reader into the server's buffer, up to `size` bytes.
    func fill(_ size: Int) {
        // `pa_stream_writable_size` says (size_t) -1 for a stream that is gone.
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
                _ = isHungry.exchange(true, ordering: .acquiringAndReleasing)
                // Frames that came before the hunger could be seen are told of by nobody.
                count = reader.read(into: target)
            }
            guard count > 0, pa_stream_write(stream, memory, count, nil, 0, PA_SEEK_RELATIVE) == 0 else {
                pa_stream_cancel_write(stream)
                return
            }
            position.took(FrameCount(count / bytesPerFrame))
            rest -= count
        }
    }

    /// Asks for the server's clock now and then. Libpulse can do it by itself
    /// (`PA_STREAM_AUTO_TIMING_UPDATE`), but then also while corked, which keeps a paused player waking.
    func keepTime() {
        writesSinceTiming += 1
        guard writesSinceTiming >= PulseTuning.writesPerTiming else { return }
        askForTiming()
    }

    /// `timed` follows.
    func askForTiming() {
        guard isReady else { return }
        writesSinceTiming = 0
        isAskingForTiming = true
        forget(pa_stream_update_timing_info(stream, nil, nil))
    }

    /// The server's clock is here.
    func timed() {
        isAskingForTiming = false
        // An answer that was under way when the stream was corked speaks of a time before.
        guard isTaking, isReady, !isSuspended, let info = pa_stream_get_timing_info(stream)?.pointee else {
            return
        }
        guard info.write_index_corrupt == 0, info.read_index_corrupt == 0 else { return }
        let (queued, isOutside) = info.write_index.subtractingReportingOverflow(info.read_index)
        guard !isOutside else { return }
        let inSink = min(info.sink_usec, PulseTuning.longestLatencyMicroseconds)
        // The answer is as old as its way here was long; a sample that plays moved on meanwhile.
        let age = info.playing != 0 ? min(info.transport_usec, inSink) : 0
        position.measured(
            latency: max(0, queued) / Int64(bytesPerFrame)
                + format.frames(in: .microseconds(Int64(inSink - age))),
            isPlaying: info.playing != 0,
            at: Self.now
        )
    }

    /// Whether its sink is suspended: the stream is alive, and time stands still for it.
    var isSuspended: Bool { isReady && pa_stream_is_suspended(stream) > 0 }

    /// The sink was suspended, or goes on.
    func suspended() {
        guard isSuspended else { return askForTiming() }
        if isTaking { position.moved(to: Self.now) }
        position.stopped()
    }

    /// The clock of libpulse, which stands still while the machine sleeps, as sinks do.
    static var now: Duration { .microseconds(Int64(clamping: pa_rtclock_now())) }

    func stopTaking() {
        if isTaking { position.moved(to: Self.now) }
        isTaking = false
        position.stopped()
    }

    /// Lets the server drain when it has all there will ever be.
    func drainIfWritten() {
        guard let answer = drainRequest, reader.isFinished, reader.availableBytes == 0, isReady else {
            return
        }
        drainRequest = nil
        dropRequest()
        guard let operation = pa_stream_drain(stream, Self.answered, box) else { return answer.give(false) }
        request = (operation, answer)
    }

    /// The server's answer to the one request under way.
    static let answered: pa_stream_success_cb_t = { _, isSuccess, box in
        guard let stream = PulseStream.from(box), !stream.isOver else { return }
        // The clock begins or stops with each of these requests.
        stream.askForTiming()
        stream.request?.answer.give(isSuccess != 0)
    }

    /// Gives up the request under way: its callback does not come any more.
    func dropRequest() {
        guard let request else { return }
        if pa_operation_get_state(request.operation) == PA_OPERATION_RUNNING {
            pa_operation_cancel(request.operation)
        }
        pa_operation_unref(request.operation)
        request.answer.give(false)
        self.request = nil
    }

    func stateChanged() {
        guard !isOver else { return }
        switch pa_stream_get_state(stream) {
        case PA_STREAM_READY:
            wasReady = true
            ready.give(true)
            if volume.isChosen { applyVolume() } else { act(on: volume.changeSignalled()) }
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            let isAlone = pa_context_get_state(context) == PA_CONTEXT_READY
            lost()
            // The loss of the whole connection is told by the connection.
            guard wasReady, isAlone else { return }
            onEvent(.lost(MediaError(.audioLost, "PulseAudio", "the audio server ended the stream")))
        default:
            break  // Being made.
        }
    }

    /// The server's buffer is empty. It may say so with frames on their way, which is no underrun.
    func ranDry() {
        guard isTaking, !isUnderrunTold else { return }
        let before = position.taken
        fill(pa_stream_writable_size(stream))
        guard position.taken == before, !reader.isFinished, reader.availableBytes == 0 else { return }
        isUnderrunTold = true
        onEvent(.underrun)
    }

    func told(_ name: UnsafePointer<CChar>?) {
        switch name.map(String.init(cString:)) {
        case PA_STREAM_EVENT_REQUEST_CORK: onEvent(.pauseRequested)
        case PA_STREAM_EVENT_REQUEST_UNCORK: onEvent(.resumeRequested)
        default: break  // Events of later servers.
        }
    }

    /// The stream is gone: whoever waits for it ends.
    func lost() {
        stopTaking()
        isOver = true
        ready.give(false)
        dropRequest()
        drainRequest?.give(false)
        drainRequest = nil
        dropVolumeQuestion()
    }

    /// Ends the stream at the server. Nothing of it is called or used after.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        lost()
        pa_stream_set_state_callback(stream, nil, nil)
        pa_stream_set_write_callback(stream, nil, nil)
        pa_stream_set_underflow_callback(stream, nil, nil)
        pa_stream_set_started_callback(stream, nil, nil)
        pa_stream_set_latency_update_callback(stream, nil, nil)
        pa_stream_set_moved_callback(stream, nil, nil)
        pa_stream_set_suspended_callback(stream, nil, nil)
        pa_stream_set_event_callback(stream, nil, nil)
        // Without this the server keeps the stream until the connection ends.
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
        retainedForCallbacks?.release()
        retainedForCallbacks = nil
    }
}

/// Lets libpulse finish a request whose answer nobody waits for.
func forget(_ operation: OpaquePointer?) {
    if let operation { pa_operation_unref(operation) }
}
