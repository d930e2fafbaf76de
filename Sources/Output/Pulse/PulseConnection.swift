import CPulse
import Media
import System

/// One connection with an audio server, from `connect` to its loss or `close`.
///
/// A context that failed never revives, so reconnecting makes a new one of these.
final class PulseConnection: @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held, which callbacks hold too.

    let mainloop: PulseMainloop
    let context: OpaquePointer
    let patience: PulsePatience
    private let onLoss: @Sendable (MediaError) -> Void
    private let ready = OneShot<Result<Void, MediaError>>()
    /// Whether it stands: from the server's word to its loss.
    private(set) var isReady = false
    private var isClosed = false
    private var retainedForCallbacks: Unmanaged<PulseConnection>?
    /// The stream that hears of the server's signals; the connection keeps it until it is closed.
    private(set) var stream: PulseStream?

    /// `onLoss` is called once, with the main loop's lock held, when a connection that stood is gone.
    init(
        application: PulseApplication,
        patience: PulsePatience,
        onLoss: @escaping @Sendable (MediaError) -> Void
    ) throws(MediaError) {
        mainloop = try PulseMainloop()
        self.patience = patience
        self.onLoss = onLoss
        let api = mainloop.api
        let made = mainloop.withLock {
            application.withProperties { pa_context_new_with_proplist(api, application.name, $0) }
        }
        guard let made else {
            mainloop.stop()
            throw MediaError(.audioServer, "PulseAudio", "its client library cannot be set up")
        }
        context = made
    }

    /// Reaches the server, or fails as soon as it is known that none answers, or none did in time.
    ///
    /// `NOAUTOSPAWN`: a player that starts a server as a side effect surprises; where one is wanted,
    /// the session starts it, through a socket that answers.
    func connect(to server: String?) async throws {
        mainloop.withLock {
            // Who quits at once may have closed it by now, and the context is gone; `ready` has its answer.
            guard !isClosed else { return }
            // Balanced by the release in `close`, after the callbacks were taken away.
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
            // The state callback tells of a failure also when this one fails at once.
            if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { stateChanged() }
        }
        let cancelled = MediaError(.audioServer, "PulseAudio", "the player was told to stop")
        let outcome = await patience.watching({ [weak self] in self?.giveUp() }) {
            await ready.wait(ifCancelled: .failure(cancelled))
        }
        try Task.checkCancellation()
        try outcome.get()
    }

    /// Makes `next` the stream of this connection, and ends the one before; false, and `next` ended,
    /// when the connection itself was closed.
    func replaceStream(with next: PulseStream) -> Bool {
        mainloop.withLock {
            stream?.close()
            stream = isClosed ? nil : next
            if isClosed { next.close() }
            return !isClosed
        }
    }

    /// Ends a connection whose server leaves a request unanswered, as if it were gone: every wait ends, and
    /// a server that wakes up finds nobody. Not from a callback.
    func giveUp() {
        mainloop.withLock {
            guard !isClosed else { return }
            ready.give(.failure(Self.silent(.audioServer)))
            stream?.lost()
            // The end that this causes is no news for `stateChanged`.
            let wasReady = isReady
            isReady = false
            pa_context_disconnect(context)
            if wasReady { onLoss(Self.silent(.audioLost)) }
        }
    }

    /// Lets go of the server without waiting for it. May be called more than once, not from a callback.
    func close() {
        let isFirst = mainloop.withLock {
            guard !isClosed else { return false }
            isClosed = true
            stream?.close()
            stream = nil
            ready.give(.failure(Self.unanswered("the output was closed")))
            pa_context_set_state_callback(context, nil, nil)
            pa_context_set_subscribe_callback(context, nil, nil)
            pa_context_disconnect(context)
            pa_context_unref(context)
            return true
        }
        guard isFirst else { return }
        mainloop.stop()
        // No callback can come any more: what `connect` retained for them is free.
        retainedForCallbacks?.release()
        retainedForCallbacks = nil
    }

    /// Why the last call on this connection failed, in libpulse's words. With the lock held.
    func reason() -> SafeText { SafeText(String(cString: pa_strerror(pa_context_errno(context)))) }

    private func stateChanged() {
        guard !isClosed else { return }
        let state = pa_context_get_state(context)
        switch state {
        case PA_CONTEXT_READY:
            isReady = true
            // Volume changes made elsewhere are the only signals of interest.
            forget(pa_context_subscribe(context, PA_SUBSCRIPTION_MASK_SINK_INPUT, nil, nil))
            ready.give(.success(()))
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED:
            ready.give(.failure(Self.unanswered(reason())))
            stream?.lost()
            if isReady {
                isReady = false
                onLoss(MediaError(.audioLost, "PulseAudio", "the audio server is gone (" + reason() + ")"))
            }
        default:
            break  // On its way to one of these.
        }
    }

    private func signalled(_ event: pa_subscription_event_type_t, _ index: UInt32) {
        // Facility and type are two fields of one number, each with its own mask.
        let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
        let type = event.rawValue & PA_SUBSCRIPTION_EVENT_TYPE_MASK.rawValue
        guard facility == PA_SUBSCRIPTION_EVENT_SINK_INPUT.rawValue else { return }
        guard type == PA_SUBSCRIPTION_EVENT_CHANGE.rawValue else { return }
        stream?.inputChanged(index)
    }

    private static func unanswered(_ reason: SafeText) -> MediaError {
        MediaError(
            .audioServer,
            "PulseAudio",
            "no audio server answers (" + reason + "); start one, or play with --sink null"
        )
    }

    private static func silent(_ code: MediaError.Code) -> MediaError {
        MediaError(
            code,
            "PulseAudio",
            "the audio server does not answer; restart it, or play with --sink null"
        )
    }

    private static func from(_ box: UnsafeMutableRawPointer?) -> PulseConnection? {
        box.map { Unmanaged<PulseConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
