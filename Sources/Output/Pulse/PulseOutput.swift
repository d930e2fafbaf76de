import CPulse
import Media
import System

/// `pulse`: plays through a PulseAudio or PipeWire server, with libpulse's asynchronous API.
///
/// The event handler is called while libpulse is locked, mostly on its thread, and must return at once.
final class PulseOutput: AudioOutput {
    private struct State: Sendable {
        var connection: PulseConnection?
        /// Remains set after the connection was lost, because it still knows the heard position.
        var stream: PulseStream?
    }

    private let server: String?
    private let library: OptionalLibrary
    private let clock: any MonotonicClock
    private let listener: PulseListener
    // The main loop's lock is never taken while this one is held.
    private let state = Locked(State())

    /// Plays on the sink named `sink`, or with `nil` where the server likes. Refuses to play if that sink is
    /// not there. `setDevice` overrides it.
    ///
    /// `server` is an address in the form of `PULSE_SERVER`; `nil` leaves the choice to the environment and
    /// the session. `clock` limits the wait for its replies.
    init(
        sink: String?,
        server: String? = nil,
        clock: any MonotonicClock = SystemClock(),
        library: OptionalLibrary = PulseMainloop.library
    ) {
        listener = PulseListener(sink: sink)
        self.server = server
        self.library = library
        self.clock = clock
    }

    deinit { connection?.close() }

    private var connection: PulseConnection? { state.withLock { $0.connection } }
    private var stream: PulseStream? { state.withLock { $0.stream } }

    var isRealTime: Bool { true }
    var joining: TrackJoining { .rounding }

    /// Connects to the server, and does not start one; after a loss, makes a new connection.
    ///
    /// Throws `.audioServer` as soon as it is known that there is no server, or after three seconds. If a
    /// later request gets no reply for as long, the connection counts as lost.
    func connect() async throws {
        replaceConnection(with: nil)
        if let reason = await library.open() {
            throw MediaError(
                .audioServer,
                "PulseAudio",
                SafeText("libpulse can't be loaded (\(reason)); install libpulse0, or play with --sink null")
            )
        }
        let listener = listener
        let connection = try PulseConnection(clock: clock) {
            listener.report(.lost($0))
        }
        replaceConnection(with: connection)
        connection.choose(listener.state.withLock { $0.device })
        do {
            try await connection.connect(to: server)
        } catch {
            replaceConnection(with: nil)
            throw error
        }
    }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        guard let connection else { throw Self.notConnected }
        let sink = await sink(of: connection)
        let listener = listener
        let (title, volume) = listener.state.withLock { ($0.title, $0.volume) }
        let made = connection.mainloop.withLock {
            PulseStream(
                on: connection,
                format: format,
                title: title,
                volume: volume,
                reader: reader,
                onEvent: { listener.report($0) }
            )
        }
        guard let stream = made, connection.replaceStream(with: stream) else { throw refusal(by: connection) }
        state.withLock { $0.stream = stream }
        guard await stream.connect(to: sink) else {
            try Task.checkCancellation()
            throw refusal(by: connection)
        }
    }

    /// The sink for a new stream: the chosen one, if it is there or must be; `nil` leaves it to the server.
    private func sink(of connection: PulseConnection) async -> String? {
        let (device, required) = listener.state.withLock { ($0.device, $0.requiredSink) }
        guard let device, required == nil else { return required }
        return await connection.sinks().contains { $0.name == device } ? device : nil
    }

    func start() async throws {
        guard let stream else { throw Self.notConnected }
        guard await stream.start() else {
            try Task.checkCancellation()
            throw MediaError(.audioLost, "PulseAudio", "the sound server does not play the stream any more")
        }
    }

    func pause() async { await stream?.pause() }

    func flush() async { await stream?.flush() }

    func drain() async { await stream?.drain() }

    func close() async { replaceConnection(with: nil) }

    func framesAvailable() { stream?.framesAvailable() }

    var heardFrames: FrameCount { stream?.heardFrames ?? 0 }

    /// The volume of this stream at the server, where mixers show and change it too.
    func setVolume(_ percent: Int, isMuted: Bool) {
        let level = PulseVolumeState.Level(percent: percent, isMuted: isMuted)
        listener.state.withLock { $0.volume.chosen(level) }
        stream?.setVolume(level)
    }

    func setTitle(_ title: SoundTitle) {
        listener.state.withLock { $0.title = title }
        stream?.setTitle(title)
    }

    func devices() async -> [SoundDevice] { await connection?.sinks() ?? [] }

    func setDevice(_ name: String?) {
        listener.state.withLock { state in
            if name != state.device { state.requiredSink = nil }
            state.device = name
        }
        connection?.choose(name)
    }

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        listener.state.withLock { $0.handler = handler }
    }

    private func replaceConnection(with next: PulseConnection?) {
        let old = state.withLock { state in
            defer { state.connection = next }
            return state.connection
        }
        old?.close()
    }

    private func refusal(by connection: PulseConnection) -> MediaError {
        let sink = listener.state.withLock { $0.requiredSink }
        let subject = sink.map { SafeText("PulseAudio sink \($0)") } ?? "PulseAudio"
        return connection.mainloop.withLock {
            // If the server is gone, this is not a refusal.
            guard connection.isReady else { return Self.notConnected }
            return MediaError(
                .sinkFailed,
                subject,
                "the sound server refuses to play (" + connection.reason() + ")"
            )
        }
    }

    private static let notConnected = MediaError(
        .audioLost,
        "PulseAudio",
        "there is no connection to a sound server"
    )
}

/// Runs `body` with a property list, which libpulse copies.
func withPropertyList<Value>(_ entries: [(String, String)], _ body: (OpaquePointer?) -> Value) -> Value {
    let list = pa_proplist_new()
    defer { if let list { pa_proplist_free(list) } }
    if let list {
        for (key, value) in entries { pa_proplist_sets(list, key, value) }
    }
    return body(list)
}

/// The event handler of a `PulseOutput`, and the volume, title and device for its next stream.
///
/// Callbacks reference this object, never the output: its last reference could otherwise be released on
/// libpulse's own thread, where the output cannot be closed. Its lock is taken while the main loop's is held,
/// never the other way round.
private final class PulseListener: Sendable {
    struct State {
        var handler: (@Sendable (OutputEvent) -> Void)?
        var volume = PulseVolumeState()
        var title = SoundTitle("Reprise")
        /// The name of the chosen sink; `nil` follows the server's default.
        var device: String?
        /// Without this sink the server refuses a stream; `nil` if it plays wherever the server likes then.
        var requiredSink: String?
    }

    let state: Locked<State>

    init(sink: String?) { state = Locked(State(device: sink, requiredSink: sink)) }

    func report(_ event: OutputEvent) {
        let handler = state.withLock { state in
            if case .volumeChanged(let percent, let isMuted) = event {
                state.volume.chosen(.init(percent: percent, isMuted: isMuted))
            }
            return state.handler
        }
        handler?(event)
    }
}
