import Media
import Synchronization
import System

/// The work of a `ConsumingOutput` on its thread: read a chunk, pass it to the consumer, repeat.
///
/// Only that thread uses it, so it needs no lock; the counters are atomics.
final class ConsumingEngine: @unchecked Sendable {
    // Unchecked: every variable below is only touched on the output's thread; what other threads read is in the
    // atomics.

    private enum Phase {
        case closed
        case paused
        case playing
        case failed(MediaError)
    }

    /// 93 ms of CD audio: large enough to make system calls cheap, small enough to let commands in.
    private static let chunkBytes = 16 * 1024

    /// About a second: handing the thread its next step takes as long as several chunks.
    private static let chunksPerStep = 12

    private let consumer: any FrameConsumer
    private let interruption: Interruption
    private let chunk = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ConsumingEngine.chunkBytes,
        alignment: 16
    )
    /// The part of `chunk` that was read but not consumed yet.
    private var pending = 0..<0
    private var phase = Phase.closed
    private var reader: (any PCMReader)?
    private var bytesPerFrame = 1
    private var drain: OneShot<Void>?
    private var consumedBytes: Int64 = 0
    private let heard = Atomic<Int64>(0)

    init(consumer: any FrameConsumer, interruption: Interruption) {
        self.consumer = consumer
        self.interruption = interruption
    }

    deinit { chunk.deallocate() }

    /// Frames consumed or flushed since `open`; from any thread.
    var heardFrames: FrameCount { heard.load(ordering: .relaxed) }

    func connect() throws(MediaError) { try consumer.connect() }

    func open(_ format: AudioFormat, reader: any PCMReader) throws(MediaError) {
        endDrain()
        phase = .closed
        pending = 0..<0
        try consumer.begin(format)
        self.reader = reader
        bytesPerFrame = format.bytesPerFrame
        consumedBytes = 0
        heard.store(0, ordering: .relaxed)
        phase = .paused
    }

    /// Takes the first chunk, which `step` then consumes.
    func start() throws(MediaError) {
        switch phase {
        case .closed: return
        case .failed(let error): throw error
        case .paused, .playing: phase = .playing
        }
        if pending.isEmpty { take() }
    }

    func pause() {
        endDrain()
        if case .playing = phase { phase = .paused }
    }

    /// Drops the bytes that were read, except the rest of a frame whose beginning is in the file already.
    func flush() {
        guard case .paused = phase else { return }
        let begun = Int(consumedBytes % Int64(bytesPerFrame))
        let rest = begun == 0 ? 0 : min(bytesPerFrame - begun, pending.count)
        let dropped = pending.count - rest
        pending = pending.lowerBound..<pending.lowerBound + rest
        count(consumed: dropped)
    }

    /// Gives `answer` once the reader is finished and empty, or when nothing plays.
    func drain(_ answer: OneShot<Void>) {
        guard case .playing = phase else { return answer.give(()) }
        endDrain()
        drain = answer
    }

    func close() {
        endDrain()
        consumer.end()
        phase = .closed
        reader = nil
        pending = 0..<0
    }

    enum StepResult: Equatable {
        /// Another step has work to do.
        case more
        /// Nothing to do until frames are announced or a command comes.
        case idle
        /// The consumer failed; reported once.
        case lost(MediaError)
    }

    /// Consumes the frames that are there, a few chunks at most: a command waits no longer than these take.
    func step() -> StepResult {
        guard case .playing = phase else { return .idle }
        do throws(MediaError) {
            for _ in 0..<Self.chunksPerStep {
                if pending.isEmpty, !take() { return .idle }
                let bytes = UnsafeRawBufferPointer(rebasing: chunk[pending])
                let consumed = try consumer.consume(bytes, until: interruption)
                pending = pending.lowerBound + consumed..<pending.upperBound
                count(consumed: consumed)
                // Interrupted: a command is next.
                if !pending.isEmpty { break }
            }
            return .more
        } catch {
            phase = .failed(error)
            endDrain()
            return .lost(error)
        }
    }

    /// Reads into the empty chunk. Returns `false` if there is nothing; at the end of the music that ends a drain.
    @discardableResult
    private func take() -> Bool {
        guard let reader else { return false }
        // Asked before reading: then `read` sees all that the writer delivered before it finished.
        let isFinished = reader.isFinished
        pending = 0..<reader.read(into: chunk)
        if pending.isEmpty && isFinished { endDrain() }
        return !pending.isEmpty
    }

    private func count(consumed bytes: Int) {
        consumedBytes += Int64(bytes)
        heard.store(consumedBytes / Int64(bytesPerFrame), ordering: .relaxed)
    }

    private func endDrain() {
        drain?.give(())
        drain = nil
    }
}
