import Media
import Synchronization
import System

/// An output with its own thread, which takes frames as fast as the reader delivers them: `null:fast`, `raw`
/// and `wav`. The thread reads a chunk, writes or drops it, and repeats.
final class ConsumingOutput: AudioOutput, @unchecked Sendable {
    // Unchecked: all variables are used on the thread only, except constants, atomics and locked values.

    private enum Phase {
        case closed
        case paused
        case playing
        case failed(MediaError)
    }

    /// 93 ms of CD audio: large enough that system calls are cheap, small enough that commands are not
    /// delayed.
    private static let chunkBytes = 16 * 1024

    /// About a second of audio: submitting the next step takes as long as several chunks.
    private static let chunksPerStep = 12

    private let thread: WorkThread
    private let interruption = Interruption()
    private let handler = Locked<(@Sendable (OutputEvent) -> Void)?>(nil)
    /// `true` while a step is queued on the thread: one is enough, however often frames are announced.
    private let isStepScheduled = Atomic(false)
    /// `nil` if frames are dropped.
    private let writer: FileWriter?
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 16)
    /// `nil` if samples are consumed as they are.
    private var conversion: SampleConversion?
    /// The chunk after its conversion, in which two bytes become at most four.
    private let converted = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * chunkBytes, alignment: 16)
    /// The part of the chunk, after its conversion, that was not consumed yet.
    private var pending = 0..<0
    private var phase = Phase.closed
    private var reader: (any PCMReader)?
    /// The size of a frame as it is consumed.
    private var bytesPerFrame = 1
    private var draining: OneShot<Void>?
    private var consumedBytes: Int64 = 0
    private let heard = Atomic<Int64>(0)

    /// Writes every frame to `writer`, or drops it if there is none (`null:fast`).
    init(writer: FileWriter? = nil, threadName: String) {
        self.writer = writer
        thread = WorkThread(name: threadName)
    }

    deinit {
        thread.stop()
        chunk.deallocate()
        converted.deallocate()
    }

    var joining: TrackJoining { writer?.isNumbered == true ? .never : .exactly }
    var isRealTime: Bool { false }
    /// Frames consumed or flushed since `open`.
    var heardFrames: FrameCount { heard.load(ordering: .relaxed) }

    func connect() async throws { try await command { try $0.writer?.connect() } }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        try await command { output in
            output.stop(.closed)
            output.pending = 0..<0
            try output.writer?.begin(format)
            output.reader = reader
            let conversion = output.writer.flatMap { SampleConversion(from: format.sample, to: $0.sample) }
            output.conversion = conversion
            output.bytesPerFrame =
                format.channelCount * (conversion?.target.byteCount ?? format.sample.byteCount)
            output.consumedBytes = 0
            output.heard.store(0, ordering: .relaxed)
            output.phase = .paused
        }
    }

    /// Begins to play: reads the first chunk, which the next step then consumes. Throws the error of an
    /// earlier failed write.
    func start() async throws {
        try await command { output in
            switch output.phase {
            case .closed: return
            case .failed(let error): throw error
            case .paused, .playing: output.phase = .playing
            }
            if output.pending.isEmpty { output.readChunk() }
        }
        framesAvailable()
    }

    func pause() async {
        try? await command { output in
            if case .playing = output.phase { output.stop(.paused) }
        }
    }

    /// Drops the bytes that were read, except the rest of a frame that was partly written.
    func flush() async {
        try? await command { output in
            guard case .paused = output.phase else { return }
            let begun = Int(output.consumedBytes % Int64(output.bytesPerFrame))
            let rest = begun == 0 ? 0 : min(output.bytesPerFrame - begun, output.pending.count)
            let dropped = output.pending.count - rest
            output.pending = output.pending.prefix(rest)
            output.count(consumed: dropped)
        }
    }

    func drain() async {
        let answer = OneShot<Void>()
        try? await command { output in
            guard case .playing = output.phase else { return answer.give(()) }
            output.endDrain()
            output.draining = answer
        }
        framesAvailable()
        await answer.wait(ifCancelled: ())
    }

    /// Ends a write that waits for the reader of a pipe, then finishes the file.
    func close() async {
        try? await command { output in
            output.stop(.closed)
            output.writer?.end()
            output.reader = nil
            output.pending = 0..<0
        }
    }

    func framesAvailable() {
        guard !isStepScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        thread.submit { [weak self] in self?.step() }
    }

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        self.handler.withLock { $0 = handler }
    }

    /// Runs `body` on the thread, and ends a write there that waits.
    private func command(_ body: @escaping @Sendable (ConsumingOutput) throws -> Void) async throws {
        interruption.raise()
        try await thread.run { [self] in
            interruption.lower()
            try body(self)
        }
    }

    // MARK: On the thread

    /// Consumes the available frames, at most a few chunks, so that commands need not wait long.
    private func step() {
        // Cleared before the reader is asked, so that frames announced from here on schedule another step.
        isStepScheduled.store(false, ordering: .sequentiallyConsistent)
        guard case .playing = phase else { return }
        do throws(MediaError) {
            for _ in 0..<Self.chunksPerStep {
                if pending.isEmpty, !readChunk() { return }
                let bytes = UnsafeRawBufferPointer(rebasing: (conversion == nil ? chunk : converted)[pending])
                let consumed = try writer?.write(bytes, until: interruption) ?? bytes.count
                pending = pending.dropFirst(consumed)
                count(consumed: consumed)
                // Interrupted: a command is waiting.
                if !pending.isEmpty { break }
            }
            framesAvailable()
        } catch {
            stop(.failed(error))
            handler.withLock { $0 }?(.lost(error))
        }
    }

    /// Reads into the empty chunk. Returns `false` if there are no frames; if the reader is then finished,
    /// ends the drain.
    @discardableResult
    private func readChunk() -> Bool {
        guard let reader else { return false }
        // Checked before reading, so that `read` gets all frames that the writer delivered before it
        // finished.
        let isFinished = reader.isFinished
        let read = UnsafeRawBufferPointer(rebasing: chunk[..<reader.read(into: chunk)])
        pending = 0..<(conversion?.convert(read, into: converted) ?? read.count)
        if pending.isEmpty && isFinished { endDrain() }
        return !pending.isEmpty
    }

    private func count(consumed bytes: Int) {
        consumedBytes += Int64(bytes)
        heard.store(consumedBytes / Int64(bytesPerFrame), ordering: .relaxed)
    }

    private func stop(_ phase: Phase) {
        self.phase = phase
        endDrain()
    }

    private func endDrain() {
        draining?.give(())
        draining = nil
    }
}
