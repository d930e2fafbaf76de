import Media
import System

/// The ring and the sink behind it: what the player's effects on sound come down to.
///
/// Used by the player's loop alone, so it needs no lock.
final class SoundPath {
    private let output: any AudioOutput
    private let settings: PlaybackSettings
    private let tell: @Sendable (PlayerInput) -> Void
    private let space = SpaceSignal()
    /// Nil after a loss, until the next opening.
    private var connection: Task<Void, any Error>?
    /// The search for a server that was lost.
    private var search: Task<Void, Never>?
    private var drainTask: Task<Void, Never>?
    private(set) var ring: PCMRing?
    private var format: AudioFormat?
    /// Whether the sink takes frames.
    private(set) var isRunning = false

    /// Reaches the sink while the first track is looked up, unless `reaching` does already.
    init(
        output: any AudioOutput,
        reaching: Task<Void, any Error>?,
        settings: PlaybackSettings,
        tell: @escaping @Sendable (PlayerInput) -> Void
    ) {
        self.output = output
        self.settings = settings
        self.tell = tell
        connection = reaching ?? Task { try await output.connect() }
    }

    /// Frames of the open stream that were heard; 0 without one.
    var heard: FrameCount { ring == nil ? 0 : output.heardFrames }

    /// PCM to have in the ring before the first sound.
    var startFrames: Int { frames(in: settings.startTime) }
    /// PCM to have before going on after the ring ran dry.
    var restartFrames: Int { frames(in: settings.restartTime) }

    private func frames(in time: Duration) -> Int {
        guard let ring, let format else { return 0 }
        return min(Int(format.frames(in: time)), ring.capacityFrames)
    }

    /// Opens the sink with a new ring; says so when that fails.
    func open(_ format: AudioFormat) async -> PlayerInput? {
        await stopDraining()
        isRunning = false
        do {
            try await connect()
            let fresh = PCMRing(
                format: format,
                frames: Int(format.frames(in: settings.ringTime)),
                space: space
            )
            try await output.open(format, reader: fresh)
            ring = fresh
            self.format = format
            return nil
        } catch {
            return .outputFailed(MediaError(describing: error))
        }
    }

    private func connect() async throws {
        // A search that told of its success is over.
        if let search {
            await search.value
            self.search = nil
            connection = Task {}
        }
        if let connection { return try await connection.value }
        try await output.connect()
        connection = Task {}
    }

    /// The sink went away: the next opening connects anew.
    func lost() async {
        await stopDraining()
        ring = nil
        isRunning = false
        connection?.cancel()
        connection = nil
        search?.cancel()
    }

    /// Looks for the server once, after `delay`, and tells what came of it; ends a search that is under way.
    func reconnect(after delay: Duration, attempt: Int, by clock: any MonotonicClock) {
        let before = search
        before?.cancel()
        connection = nil
        search = Task { [output, tell] in
            await before?.value
            do {
                if delay > .zero { try await clock.sleep(for: delay) }
                try Task.checkCancellation()
                try await output.connect()
                try Task.checkCancellation()
                tell(.outputReached(attempt: attempt))
            } catch {
                if !Task.isCancelled { tell(.outputUnreachable(attempt: attempt)) }
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

    /// Stands still; the count of frames heard is then final.
    func pause() async {
        await stopDraining()
        guard isRunning else { return }
        isRunning = false
        await output.pause()
    }

    /// Drops what was not heard. Only while paused, and while no pass writes.
    func flush() async {
        await output.flush()
        ring?.discard()
    }

    /// What is in the ring is the last.
    func finishRing() {
        ring?.finish()
        output.framesAvailable()
    }

    func drain() {
        drainTask?.cancel()
        drainTask = Task { [output, tell] in
            await output.drain()
            if !Task.isCancelled { tell(.drained) }
        }
    }

    private func stopDraining() async {
        guard let task = drainTask else { return }
        drainTask = nil
        task.cancel()
        await task.value
    }

    /// Falls silent for good.
    func close() async {
        await stopDraining()
        connection?.cancel()
        search?.cancel()
        await search?.value
        await output.close()
        space.stop()
    }
}
