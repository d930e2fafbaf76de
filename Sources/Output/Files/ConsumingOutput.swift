package import Media
import Synchronization
import System

/// An output with its own thread, which takes frames as fast as the reader delivers them: `null:fast`, `raw`
/// and `wav`.
///
/// The three differ by their `FrameConsumer`.
package final class ConsumingOutput: AudioOutput {
    private let engine: ConsumingEngine
    private let consumer: any FrameConsumer
    private let interruption = Interruption()
    private let threadName: String
    // The thread between `connect` and `close`. Jobs are submitted while the lock is held, so that no job
    // reaches a stopped thread.
    private let thread = Locked<WorkThread?>(nil)
    private let handler = Locked<(@Sendable (OutputEvent) -> Void)?>(nil)
    /// `true` while a step is queued on the thread: one is enough, however often frames are announced.
    private let isStepScheduled = Atomic(false)

    init(consumer: any FrameConsumer, threadName: String) {
        self.consumer = consumer
        self.threadName = threadName
        engine = ConsumingEngine(consumer: consumer, interruption: interruption)
    }

    deinit { thread.withLock { $0?.stop() } }

    /// `null:fast`: drops every frame as soon as it is available.
    package static func fastNull() -> ConsumingOutput {
        ConsumingOutput(consumer: NullConsumer(), threadName: "output-null")
    }

    /// `raw:PATH`: interleaved samples without a header.
    ///
    /// With `%n` in `path`, each `open` creates a file of its own, numbered from 1.
    package static func raw(path: String) -> ConsumingOutput {
        ConsumingOutput(consumer: FileConsumer(pattern: path, container: .raw), threadName: "output-raw")
    }

    /// `raw:-`: the same on standard output, which stays open.
    package static func rawStandardOutput() -> ConsumingOutput {
        ConsumingOutput(consumer: FileConsumer.standardOutput(), threadName: "output-raw")
    }

    /// `wav:PATH`: a RIFF file, whose header gets its sizes at `close`. `%n` works as for `raw`.
    package static func wav(path: String) -> ConsumingOutput {
        ConsumingOutput(consumer: FileConsumer(pattern: path, container: .wav), threadName: "output-wav")
    }

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
        // Cleared before the engine reads, so that frames announced from here on schedule another step.
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

    /// Runs `body` on the thread; returns `false` if there is none.
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

/// The destination of a `ConsumingOutput`. Every call is made on the output's own thread.
protocol FrameConsumer: AnyObject, Sendable {
    /// Creates the file, so that an unwritable folder is detected before the first track.
    func connect() throws(MediaError)

    /// Declares that the bytes that follow have `format`; ends the previous ones.
    func begin(_ format: AudioFormat) throws(MediaError)

    /// Consumes a prefix of `bytes` and returns its length: all of them, or fewer once `interruption` is
    /// raised.
    func consume(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int

    /// Finishes and closes the file; may be called more than once.
    func end()

    /// `true` if each track must be opened separately.
    var opensEachTrack: Bool { get }
}

private final class NullConsumer: FrameConsumer {
    let opensEachTrack = false

    func connect() throws(MediaError) {}
    func begin(_ format: AudioFormat) throws(MediaError) {}
    func consume(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int
    {
        bytes.count
    }
    func end() {}
}
