import CPulse
import Media
import System

/// One connection to an audio server, from `connect` to its loss or `close`.
///
/// A context that failed never recovers, so reconnecting makes a new connection.
final class PulseConnection: CallbackContext, @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held, which callbacks hold too.

    let mainloop: PulseMainloop
    let context: OpaquePointer
    /// The limit on the wait for a reply. The server replies from memory, within milliseconds even on a busy
    /// machine; users who pressed a key do not wait much longer than this.
    private static let timeLimit = Duration.seconds(3)

    private let clock: any MonotonicClock
    private let onLoss: @Sendable (MediaError) -> Void
    private let ready = OneShot<Result<Void, MediaError>>()
    /// `true` from the moment the server accepts the connection until its loss.
    private(set) var isReady = false
    private var isClosed = false
    private var retainedForCallbacks: Unmanaged<PulseConnection>?
    /// The stream that receives the server's signals; the connection owns it until it is closed.
    private var stream: PulseStream?
    /// The stream before it, until the new one plays.
    private var previous: PulseStream?
    /// The name of the sink that the user chose; `nil` follows the server's default.
    private var device: String?
    /// The sinks that the server has named so far, and the callers that wait for all; `nil` if nobody asks.
    private var listing: (sinks: [SoundDevice], answers: [OneShot<[SoundDevice]>])?

    /// The name by which every server knows its default sink.
    private static let defaultSink = "@DEFAULT_SINK@"

    /// An icon that every theme has (Icon Naming Specification).
    static let iconName = "multimedia-audio-player"

    /// `onLoss` is called once, with the main loop's lock held, when an established connection is lost.
    /// libpulse must be open.
    init(clock: any MonotonicClock, onLoss: @escaping @Sendable (MediaError) -> Void) throws(MediaError) {
        mainloop = try PulseMainloop()
        self.clock = clock
        self.onLoss = onLoss
        let api = mainloop.api
        // Mixers show these properties, and routing policies use them.
        let properties = [
            (PA_PROP_APPLICATION_NAME, "Reprise"), (PA_PROP_APPLICATION_ID, "reprise"),
            (PA_PROP_APPLICATION_ICON_NAME, Self.iconName),
        ]
        let made = mainloop.withLock {
            withPropertyList(properties) { pa_context_new_with_proplist(api, "Reprise", $0) }
        }
        guard let made else {
            mainloop.stop()
            throw MediaError(.audioServer, "PulseAudio", "can't set up its client library")
        }
        context = made
    }

    /// Connects to the server. Fails as soon as it is known that there is no server, or if none responds in
    /// time.
    ///
    /// Does not start a server (`NOAUTOSPAWN`), which users would not expect: a session that wants one starts
    /// it when its socket is used.
    func connect(to server: String?) async throws {
        mainloop.withLock {
            // A player that quits at once may have closed the connection and freed the context; `ready` has
            // its result.
            guard !isClosed else { return }
            // Released in `close`, after the callbacks were removed.
            let retained = Unmanaged.passRetained(self)
            retainedForCallbacks = retained
            let box = retained.toOpaque()
            pa_context_set_state_callback(
                context,
                { _, box in PulseConnection.from(box)?.stateChanged() },
                box
            )
            pa_context_set_subscribe_callback(
                context,
                { _, event, index, box in PulseConnection.from(box)?.signalled(event, index) },
                box
            )
            // A call that fails at once is handled like a connection that fails later.
            if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { stateChanged() }
        }
        let cancelled = MediaError(.audioServer, "PulseAudio", "the player is stopping")
        let outcome = await withTimeLimit { await ready.wait(ifCancelled: .failure(cancelled)) }
        try Task.checkCancellation()
        try outcome.get()
    }

    /// Makes `next` the stream of this connection, and ends the use of the one before it. Returns `false`,
    /// with `next` ended, if the connection itself was closed.
    ///
    /// The earlier stream stays at the server until `next` plays. A sink that loses its last stream may be
    /// suspended or set up again, or render silence far ahead: `next` would begin up to two seconds late.
    func replaceStream(with next: PulseStream) -> Bool {
        mainloop.withLock {
            guard !isClosed else {
                next.close()
                return false
            }
            endPrevious()
            stream?.retire()
            previous = stream
            stream = next
            return true
        }
    }

    /// Ends the stream before this one. Call it with the lock held, once this one plays or is paused.
    func endPrevious() {
        previous?.close()
        previous = nil
    }

    // MARK: Devices

    /// The sinks of the server; empty if it does not reply in time.
    func sinks() async -> [SoundDevice] {
        let answer = OneShot<[SoundDevice]>()
        let isUnderway = mainloop.withLock {
            guard isReady else { return false }
            if listing == nil {
                // Unretained: the connection lives until `close`, after which no callback is called.
                let operation = pa_context_get_sink_info_list(
                    context,
                    { _, info, end, box in PulseConnection.from(box)?.listed(info, end) },
                    Unmanaged.passUnretained(self).toOpaque()
                )
                guard operation != nil else { return false }
                forget(operation)
                listing = ([], [])
            }
            listing?.answers.append(answer)
            return true
        }
        return isUnderway ? await withTimeLimit { await answer.wait(ifCancelled: []) } : []
    }

    /// Called with each sink, and once more at the end of the list, or after an error.
    private func listed(_ info: UnsafePointer<pa_sink_info>?, _ end: CInt) {
        guard end == 0, let info = info?.pointee, let name = info.name.map(String.init(cString:)) else {
            return endListing()
        }
        let title = SafeText(info.description.map(String.init(cString:)) ?? name)
        listing?.sinks.append(SoundDevice(name, title: title, isCurrent: name == stream?.sink))
    }

    private func endListing() {
        guard let listing else { return }
        self.listing = nil
        for answer in listing.answers { answer.give(listing.sinks) }
    }

    /// Moves the stream to the sink named `device`, also each time that it comes back; `nil` follows the
    /// default.
    func choose(_ device: String?) {
        mainloop.withLock {
            guard !isClosed else { return }
            self.device = device
            guard isReady else { return }
            subscribe()
            stream?.move(to: device ?? Self.defaultSink)
        }
    }

    /// Asks for the events of interest: changes of sink inputs, which include volume changes by other
    /// programs, and with a chosen device those after which the server may have moved the stream elsewhere.
    private func subscribe() {
        var events = PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue
        if device != nil {
            events |= PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
        }
        forget(pa_context_subscribe(context, pa_subscription_mask_t(events), nil, nil))
    }

    // MARK: Requests and replies

    /// Returns the result of `wait`, a wait for the server's reply to a request. Gives up the connection,
    /// which ends the wait, if that takes too long.
    ///
    /// A server that is stopped or hangs keeps its connections open and never replies: without a limit,
    /// libpulse would wait for ever.
    func withTimeLimit<Value: Sendable>(_ wait: () async -> Value) async -> Value {
        let watchdog = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: Self.timeLimit)) != nil else { return }
            self?.giveUp()
        }
        defer { watchdog.cancel() }
        return await wait()
    }

    /// Ends a connection whose server does not reply, as if it were lost: every wait ends.
    private func giveUp() {
        mainloop.withLock {
            guard !isClosed else { return }
            ready.give(.failure(Self.silent(.audioServer)))
            stream?.lost()
            endListing()
            // `stateChanged` must not report the loss that follows from this.
            let wasReady = isReady
            isReady = false
            pa_context_disconnect(context)
            if wasReady { onLoss(Self.silent(.audioLost)) }
        }
    }

    /// Closes the connection without waiting for the server. May be called more than once, but not from a
    /// callback.
    func close() {
        let isFirst = mainloop.withLock {
            guard !isClosed else { return false }
            isClosed = true
            endPrevious()
            stream?.close()
            stream = nil
            endListing()
            ready.give(.failure(Self.unanswered("the output was closed")))
            pa_context_set_state_callback(context, nil, nil)
            pa_context_set_subscribe_callback(context, nil, nil)
            pa_context_disconnect(context)
            pa_context_unref(context)
            return true
        }
        guard isFirst else { return }
        mainloop.stop()
        // No callback can be called any more.
        retainedForCallbacks?.release()
        retainedForCallbacks = nil
    }

    /// libpulse's text for the failure of the last call on this connection. Call it with the lock held.
    func reason() -> SafeText { SafeText(String(cString: pa_strerror(pa_context_errno(context)))) }

    private func stateChanged() {
        guard !isClosed else { return }
        let state = pa_context_get_state(context)
        switch state {
        case PA_CONTEXT_READY:
            isReady = true
            subscribe()
            ready.give(.success(()))
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED:
            ready.give(.failure(Self.unanswered(reason())))
            stream?.lost()
            endListing()
            if isReady {
                isReady = false
                onLoss(MediaError(.audioLost, "PulseAudio", "sound server lost (" + reason() + ")"))
            }
        default:
            break  // Still connecting.
        }
    }

    private func signalled(_ event: pa_subscription_event_type_t, _ index: UInt32) {
        // Facility and type are two fields of one number, each with its own mask.
        let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
        let type = event.rawValue & PA_SUBSCRIPTION_EVENT_TYPE_MASK.rawValue
        let isChange = type == PA_SUBSCRIPTION_EVENT_CHANGE.rawValue
        switch facility {
        case PA_SUBSCRIPTION_EVENT_SINK_INPUT.rawValue: if isChange { stream?.inputChanged(index) }
        // A sink has come, or another is the default one now. To move to the present sink changes nothing.
        case PA_SUBSCRIPTION_EVENT_SINK.rawValue where type == PA_SUBSCRIPTION_EVENT_NEW.rawValue,
            PA_SUBSCRIPTION_EVENT_SERVER.rawValue where isChange:
            if let device { stream?.move(to: device) }
        default: break
        }
    }

    private static func unanswered(_ reason: SafeText) -> MediaError {
        MediaError(
            .audioServer,
            "PulseAudio",
            "no sound server answers (" + reason + "); start one, or play with --sink null"
        )
    }

    private static func silent(_ code: MediaError.Code) -> MediaError {
        MediaError(
            code,
            "PulseAudio",
            "the sound server does not answer; restart it, or play with --sink null"
        )
    }
}

/// libpulse's thread, which runs its protocol and our callbacks, and the lock of this thread.
///
/// Every `pa_` call is made inside `withLock`, or in a callback, which holds the lock already
/// (thread-mainloop.h). While the lock is held, the thread stands still, so code that holds it must not wait,
/// decode or do I/O.
final class PulseMainloop: @unchecked Sendable {
    // Unchecked: `pointer` never changes, and libpulse allows these functions from any thread.
    private let pointer: OpaquePointer

    /// For creating a context; valid as long as this object.
    let api: UnsafeMutablePointer<pa_mainloop_api>

    /// libpulse, shared by all outputs of the process.
    static let library = OptionalLibrary { cpulse_load().map { String(cString: $0) } }

    /// Starts the thread. libpulse must be open.
    init() throws(MediaError) {
        guard let pointer = pa_threaded_mainloop_new(), let api = pa_threaded_mainloop_get_api(pointer) else {
            throw MediaError(.audioServer, "PulseAudio", "can't set up its client library")
        }
        pa_threaded_mainloop_set_name(pointer, "output-pulse")
        guard pa_threaded_mainloop_start(pointer) == 0 else {
            pa_threaded_mainloop_free(pointer)
            throw MediaError(.audioServer, "PulseAudio", "can't start its thread")
        }
        self.pointer = pointer
        self.api = api
    }

    deinit { pa_threaded_mainloop_free(pointer) }

    /// Runs `body` while the thread is stopped between two callbacks. Must not be called from a callback.
    func withLock<Value>(_ body: () -> Value) -> Value {
        pa_threaded_mainloop_lock(pointer)
        defer { pa_threaded_mainloop_unlock(pointer) }
        return body()
    }

    /// Ends the thread after its current callback. Must not be called with the lock held: it would wait for
    /// itself.
    func stop() { pa_threaded_mainloop_stop(pointer) }
}

/// Lets libpulse finish a request whose reply is not needed.
func forget(_ operation: OpaquePointer?) { if let operation { pa_operation_unref(operation) } }
