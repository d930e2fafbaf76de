package import Media
import Synchronization
import System

/// An output that takes frames as fast as the reader gives them, on a thread of its own that
/// waits on a condition variable in between.
///
/// The three sinks without a device share it and differ by their `FrameConsumer`.
package class ConsumingOutput: AudioOutput, @unchecked Sendable {
    // Unchecked: a class with subclasses cannot be checked; all its fields are constants of Sendable types.
    private let engine: ConsumingEngine
    private let consumer: any FrameConsumer
    private let interruption = Interruption()
    private let threadName: String
    /// The thread between `connect` and `close`. Submitting holds the lock, so that nothing is handed
    /// to a stopped thread.
    private let thread = Locked<WorkThread?>(nil)
    private let handler = Locked<(@Sendable (OutputEvent) -> Void)?>(nil)
    /// Whether a step waits in the thread's queue: one is enough, however often frames are announced.
    private let isStepScheduled = Atomic(false)

    init(consumer: any FrameConsumer, threadName: String) {
        self.consumer = consumer
        self.threadName = threadName
        engine = ConsumingEngine(consumer: consumer, interruption: interruption)
    }

    deinit { thread.withLock { $0?.stop() } }

    package var isRealTime: Bool { false }
    package var opensEachTrack: Bool { consumer.opensEachTrack }
    package var heardFrames: FrameCount { engine.heardFrames }

    package func connect() async throws {
        thread.withLock { thread in
            if thread == nil { thread = WorkThread(name: threadName) }
        }
        try await command { engine in Result { () throws(MediaError) in try engine.connect() } }
    }

    package func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        try await command { engine in
            Result { () throws(MediaError) in try engine.open(format, reader: reader) }
        }
    }

    package func start() async throws {
        try await command { engine in Result { () throws(MediaError) in try engine.start() } }
        framesAvailable()
    }

    package func pause() async { await command { $0.pause() } }

    package func flush() async { await command { $0.flush() } }

    package func drain() async {
        let answer = OneShot<Void>()
        guard await command({ $0.drain(answer) }) else { return }
        framesAvailable()
        await answer.wait(ifCancelled: ())
    }

    /// Ends a write that waits for the reader of a pipe, then finishes the file.
    package func close() async {
        await command { $0.close() }
        thread.withLock { thread in
            thread?.stop()
            thread = nil
        }
    }

    package func framesAvailable() {
        guard !isStepScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        thread.withLock { thread in
            guard let thread else { return isStepScheduled.store(false, ordering: .releasing) }
            thread.submit { [weak self] in self?.step() }
        }
    }

    package func setVolume(_ percent: Int, isMuted: Bool) {}

    package func setTitle(_ title: SafeText) {}

    package func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        self.handler.withLock { $0 = handler }
    }

    private func step() {
        // Cleared before looking, so that frames announced from here on schedule another step.
        isStepScheduled.store(false, ordering: .sequentiallyConsistent)
        switch engine.step() {
        case .more: framesAvailable()
        case .idle: break
        case .lost(let error): handler.withLock { $0 }?(.lost(error))
        }
    }

    private func command(
        _ body: @escaping @Sendable (ConsumingEngine) -> Result<Void, MediaError>
    ) async throws {
        guard let thread = thread.withLock({ $0 }) else {
            throw MediaError(.sinkFailed, "the output", "it was used before connect or after close")
        }
        interruption.raise()
        let (engine, interruption) = (engine, interruption)
        try await thread.run {
            interruption.lower()
            return body(engine)
        }.get()
    }

    /// Runs `body` on the thread; false when there is none.
    @discardableResult
    private func command(_ body: @escaping @Sendable (ConsumingEngine) -> Void) async -> Bool {
        guard let thread = thread.withLock({ $0 }) else { return false }
        interruption.raise()
        let (engine, interruption) = (engine, interruption)
        await thread.run {
            interruption.lower()
            body(engine)
        }
        return true
    }
}
