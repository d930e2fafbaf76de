import Media
import Synchronization
import System

/// The work of a `ConsumingOutput` on its thread: read a chunk, write or drop it, repeat.
///
/// Only that thread uses it, so it needs no lock; the counters are atomics.
final class ConsumingEngine: @unchecked Sendable {
    // Unchecked: all variables below are only used on the output's thread; other threads read the atomics.

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

    /// `nil` if frames are dropped.
    private let writer: FileWriter?
    private let interruption: Interruption
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
    private var drain: OneShot<Void>?
    private var consumedBytes: Int64 = 0
    private let heard = Atomic<Int64>(0)

    init(writer: FileWriter?, interruption: Interruption) {
        self.writer = writer
        self.interruption = interruption
    }

    deinit {
        chunk.deallocate()
        converted.deallocate()
    }

    /// Frames consumed or flushed since `open`; may be called from any thread.
    var heardFrames: FrameCount { heard.load(ordering: .relaxed) }

    func connect() throws(MediaError) { try writer?.connect() }

    func open(_ format: AudioFormat, reader: any PCMReader) throws {
        endDrain()
        phase = .closed
        pending = 0..<0
        try writer?.begin(format)
        self.reader = reader
        conversion = writer.flatMap { SampleConversion(from: format.sample, to: $0.sample) }
        bytesPerFrame = format.channelCount * (conversion?.target.byteCount ?? format.sample.byteCount)
        consumedBytes = 0
        heard.store(0, ordering: .relaxed)
        phase = .paused
    }

    /// Begins to play: reads the first chunk, which `step` then consumes. Throws the error of an earlier
    /// failed write.
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

    /// Drops the bytes that were read, except the rest of a frame that was partly written.
    func flush() {
        guard case .paused = phase else { return }
        let begun = Int(consumedBytes % Int64(bytesPerFrame))
        let rest = begun == 0 ? 0 : min(bytesPerFrame - begun, pending.count)
        let dropped = pending.count - rest
        pending = pending.lowerBound..<pending.lowerBound + rest
        count(consumed: dropped)
    }

    /// Completes `answer` once the reader is finished and empty, or playback stops for another reason; at
    /// once if nothing plays.
    func drain(_ answer: OneShot<Void>) {
        guard case .playing = phase else { return answer.give(()) }
        endDrain()
        drain = answer
    }

    func close() {
        endDrain()
        writer?.end()
        phase = .closed
        reader = nil
        pending = 0..<0
    }

    enum StepResult: Equatable {
        /// There is work for another step.
        case more
        /// There is no work until frames are announced or a command arrives.
        case idle
        /// Writing failed; reported once.
        case lost(MediaError)
    }

    /// Consumes the available frames, at most a few chunks, so that commands need not wait long.
    func step() -> StepResult {
        guard case .playing = phase else { return .idle }
        do throws(MediaError) {
            for _ in 0..<Self.chunksPerStep {
                if pending.isEmpty, !take() { return .idle }
                let bytes = UnsafeRawBufferPointer(rebasing: (conversion == nil ? chunk : converted)[pending])
                let consumed = try writer?.write(bytes, until: interruption) ?? bytes.count
                pending = pending.lowerBound + consumed..<pending.upperBound
                count(consumed: consumed)
                // Interrupted: a command is waiting.
                if !pending.isEmpty { break }
            }
            return .more
        } catch {
            phase = .failed(error)
            endDrain()
            return .lost(error)
        }
    }

    /// Reads into the empty chunk. Returns `false` if there are no frames; if the reader is then finished,
    /// ends the drain.
    @discardableResult
    private func take() -> Bool {
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

    private func endDrain() {
        drain?.give(())
        drain = nil
    }
}
