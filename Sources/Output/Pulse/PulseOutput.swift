package import Media
package import System

/// `pulse`: plays through a PulseAudio server, or PipeWire's, over libpulse's asynchronous API.
///
/// The event handler is called with libpulse held up, mostly on its thread, and must return at once.
package final class PulseOutput: AudioOutput {
    private struct State: Sendable {
        var connection: PulseConnection?
        /// Also the stream of a connection that is gone: it still knows what was heard.
        var stream: PulseStream?
    }

    private let sink: String?
    private let server: String?
    private let application: PulseApplication
    private let patience: PulsePatience
    private let listener = PulseListener()
    // Never held while the main loop's lock is taken.
    private let state = Locked(State())

    /// Plays on the sink named `sink`, or on the one the listener chose for this application.
    ///
    /// `server` is an address as `PULSE_SERVER` has it; nil leaves the choice to the environment and
    /// the session. `clock` limits the wait for its answers.
    package init(
        sink: String?,
        server: String? = nil,
        application: PulseApplication = PulseApplication(),
        clock: any MonotonicClock = SystemClock()
    ) {
        self.sink = sink
        self.server = server
        self.application = application
        patience = PulsePatience(clock: clock)
    }

    deinit { state.withLock { $0.connection }?.close() }

    package var isRealTime: Bool { true }

    /// Reaches the server; starts none. Calling it again
    /// after a loss makes a new connection. Throws `.audioServer` as soon as none answers, or when one does
    /// not within three seconds; requests later left unanswered for as long are a loss.
    package func connect() async throws {
        replaceConnection(with: nil)
        await PulseMainloop.loadLibrary()
        let listener = listener
        let connection = try PulseConnection(application: application, patience: patience) {
            listener.tell(.lost($0))
        }
        replaceConnection(with: connection)
        do {
            try await connection.connect(to: server)
        } catch {
            replaceConnection(with: nil)
            throw error
        }
    }

    package func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        guard let connection = state.withLock({ $0.connection }) else { throw Self.notConnected }
        let listener = listener
        let (title, volume) = (listener.title, listener.volume)
        let made = connection.mainloop.withLock {
            PulseStream(
                on: connection,
                format: format,
                title: title,
                volume: volume,
                reader: reader,
                onEvent: { listener.tell($0) }
            )
        }
        guard let stream = made, connection.replaceStream(with: stream) else {
            throw refusal(by: connection)
        }
        state.withLock { $0.stream = stream }
        guard await stream.connect(to: sink) else {
            try Task.checkCancellation()
            throw refusal(by: connection)
        }
    }

    package func start() async throws {
        guard let stream = state.withLock({ $0.stream }) else { throw Self.notConnected }
        guard await stream.start() else {
            try Task.checkCancellation()
            throw MediaError(.audioLost, "PulseAudio", "the audio server does not play the stream any more")
        }
    }

    package func pause() async { await state.withLock { $0.stream }?.pause() }

    package func flush() async { await state.withLock { $0.stream }?.flush() }

    package func drain() async { await state.withLock { $0.stream }?.drain() }

    package func close() async { replaceConnection(with: nil) }

    package func framesAvailable() { state.withLock { $0.stream }?.framesAvailable() }

    package var heardFrames: FrameCount { state.withLock { $0.stream }?.heardFrames ?? 0 }

    /// The volume of this stream at the server, where mixers show and change it too.
    package func setVolume(_ percent: Int, isMuted: Bool) {
        let level = PulseVolumeState.Level(percent: percent, isMuted: isMuted)
        listener.setVolume(level)
        state.withLock { $0.stream }?.setVolume(level)
    }

    package func setTitle(_ title: SafeText) {
        listener.setTitle(title)
        state.withLock { $0.stream }?.setTitle(title)
    }

    package func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        listener.setHandler(handler)
    }

    private func replaceConnection(with next: PulseConnection?) {
        let old = state.withLock { state in
            defer { state.connection = next }
            return state.connection
        }
        old?.close()
    }

    private func refusal(by connection: PulseConnection) -> MediaError {
        let subject = sink.map { SafeText("PulseAudio sink \($0)") } ?? "PulseAudio"
        return connection.mainloop.withLock {
            // A server that went away has refused nothing.
            guard connection.isReady else { return Self.notConnected }
            return MediaError(
                .sinkFailed,
                subject,
                "the audio server refuses to play (" + connection.reason() + ")"
            )
        }
    }

    private static let notConnected = MediaError(
        .audioLost,
        "PulseAudio",
        "there is no connection with an audio server"
    )
}
