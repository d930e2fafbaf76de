import Media
import Synchronization
import System

/// An output with its own thread, which takes frames as fast as the reader delivers them: `null:fast`, `raw`
/// and `wav`.
final class ConsumingOutput: AudioOutput {
    private let engine: ConsumingEngine
    private let interruption = Interruption()
    private let threadName: String
    // The thread between `connect` and `close`. Jobs are submitted while the lock is held, so that no job
    // reaches a stopped thread.
    private let thread = Locked<WorkThread?>(nil)
    private let handler = Locked<(@Sendable (OutputEvent) -> Void)?>(nil)
    /// `true` while a step is queued on the thread: one is enough, however often frames are announced.
    private let isStepScheduled = Atomic(false)

    let joining: TrackJoining

    /// Writes every frame to `writer`, or drops it if there is none (`null:fast`).
    init(writer: FileWriter? = nil, threadName: String) {
        self.threadName = threadName
        joining = writer?.isNumbered == true ? .never : .exactly
        engine = ConsumingEngine(writer: writer, interruption: interruption)
    }

    deinit { thread.withLock { $0?.stop() } }

    var isRealTime: Bool { false }
    var heardFrames: FrameCount { engine.heardFrames }

    func connect() async throws {
        thread.withLock { $0 = $0 ?? WorkThread(name: threadName) }
        try await command { try $0.connect() }
    }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        try await command { try $0.open(format, reader: reader) }
    }

    func start() async throws {
        try await command { try $0.start() }
        framesAvailable()
    }

    // The calls below do nothing before `connect` and after `close`.

    func pause() async { try? await command { $0.pause() } }

    func flush() async { try? await command { $0.flush() } }

    func drain() async {
        let answer = OneShot<Void>()
        guard (try? await command { $0.drain(answer) }) != nil else { return }
        framesAvailable()
        await answer.wait(ifCancelled: ())
    }

    /// Ends a write that waits for the reader of a pipe, then finishes the file.
    func close() async {
        try? await command { $0.close() }
        thread.withLock { thread in
            thread?.stop()
            thread = nil
        }
    }

    func framesAvailable() {
        guard !isStepScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        thread.withLock { thread in
            guard let thread else { return isStepScheduled.store(false, ordering: .releasing) }
            thread.submit { [weak self] in self?.step() }
        }
    }

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        self.handler.withLock { $0 = handler }
    }

    private func step() {
        // Cleared before the engine reads, so that frames announced from here on schedule another step.
        isStepScheduled.store(false, ordering: .sequentiallyConsistent)
        switch engine.step() {
        case .more: framesAvailable()
        case .idle: break
        case .lost(let error): handler.withLock { $0 }?(.lost(error))
        }
    }

    /// Runs `body` on the thread, and ends a write there that waits.
    private func command(_ body: @escaping @Sendable (ConsumingEngine) throws -> Void) async throws {
        guard let thread = thread.withLock({ $0 }) else {
            throw MediaError(.sinkFailed, "the output", "it was used before connect or after close")
        }
        interruption.raise()
        let engine = engine
        let interruption = interruption
        try await thread.run {
            interruption.lower()
            try body(engine)
        }
    }
}
