import Media
import System

/// Carries out the effects on the ring and the sink.
///
/// Used only by the player's loop, so it needs no lock.
final class SoundPath {
    private let output: any AudioOutput
    private let settings: PlaybackSettings
    private let send: @Sendable (PlayerInput) -> Void
    private let space = SpaceSignal()
    /// The attempt to connect to the sink, finished or not; `nil` after a loss, until the next opening.
    private var connection: Task<Void, any Error>?
    /// The attempt to reach a lost server.
    private var search: Task<Void, Never>?
    private var drainTask: Task<Void, Never>?
    private(set) var ring: PCMRing?
    /// `true` if the sink takes frames.
    private(set) var isRunning = false

    /// Connects to the sink while the first track is resolved, unless `connecting` does already.
    init(
        output: any AudioOutput,
        connecting: Task<Void, any Error>?,
        settings: PlaybackSettings,
        send: @escaping @Sendable (PlayerInput) -> Void
    ) {
        self.output = output
        self.settings = settings
        self.send = send
        connection = connecting ?? Task { try await output.connect() }
    }

    /// Frames of the open stream that were heard; 0 without a stream.
    var heard: FrameCount { ring == nil ? 0 : output.heardFrames }

    /// Frames needed in the ring before the first sound.
    var startFrames: Int { frames(in: settings.startTime) }

    /// The frames of `time`, but not more than the ring holds; 0 without a stream.
    func frames(in time: Duration) -> Int {
        guard let ring else { return 0 }
        return min(Int(ring.format.frames(in: time)), ring.capacityFrames)
    }

    /// Opens the sink with a new ring. Returns the input that reports a failure; `nil` on success.
    func open(_ format: AudioFormat) async -> PlayerInput? {
        await stopDraining()
        isRunning = false
        do {
            try await connect()
            let fresh = PCMRing(format: format, frames: Int(PCMRing.frames(for: format)), space: space)
            try await output.open(format, reader: fresh)
            ring = fresh
            return nil
        } catch {
            return .outputFailed(MediaError(describing: error))
        }
    }

    private func connect() async throws {
        // The state opens the sink only after a successful search, so this search is over.
        if let search {
            await search.value
            self.search = nil
            connection = Task {}
        }
        if let connection { return try await connection.value }
        try await output.connect()
        connection = Task {}
    }

    /// The devices of the sink, once it is connected. If it was lost, this does not wait for its return.
    func devices() async -> [SoundDevice] {
        if search == nil { try? await connect() }
        return await output.devices()
    }

    /// The sink is lost: the next opening connects again.
    func lost() async {
        await stopDraining()
        ring = nil
        isRunning = false
        connection?.cancel()
        connection = nil
        search?.cancel()
    }

    /// Searches for the server once, after `delay`, and sends the result. Replaces a search in progress.
    func reconnect(after delay: Duration, attempt: Int, by clock: any MonotonicClock) {
        let before = search
        before?.cancel()
        connection = nil
        search = Task { [output, send] in
            await before?.value
            do {
                if delay > .zero { try await clock.sleep(for: delay) }
                try Task.checkCancellation()
                try await output.connect()
                try Task.checkCancellation()
                send(.searchEnded(attempt: attempt, isReached: true))
            } catch {
                if !Task.isCancelled { send(.searchEnded(attempt: attempt, isReached: false)) }
            }
        }
    }

    func start() async -> PlayerInput {
        do {
            try await output.start()
            isRunning = true
            return .outputStarted
        } catch {
            return .outputFailed(MediaError(describing: error))
        }
    }

    /// Pauses the sink. Afterwards the count of frames heard is final.
    func pause() async {
        await stopDraining()
        guard isRunning else { return }
        isRunning = false
        await output.pause()
    }

    /// Drops PCM that was not heard. Only allowed while paused, and while no pass writes.
    func flush() async {
        await output.flush()
        ring?.discard()
    }

    /// Marks the PCM in the ring as the last.
    func finishRing() {
        ring?.finish()
        output.framesAvailable()
    }

    func fade(left: Duration, of length: Duration) {
        guard let ring else { return }
        ring.fade.begin(left: Int(ring.format.frames(in: left)), of: Int(ring.format.frames(in: length)))
    }

    func endFade() { ring?.fade.end() }

    func drain() {
        drainTask?.cancel()
        drainTask = Task { [output, send] in
            await output.drain()
            if !Task.isCancelled { send(.drained) }
        }
    }

    private func stopDraining() async {
        guard let task = drainTask else { return }
        drainTask = nil
        task.cancel()
        await task.value
    }

    func close() async {
        await stopDraining()
        connection?.cancel()
        search?.cancel()
        await search?.value
        await output.close()
        space.stop()
    }
}
