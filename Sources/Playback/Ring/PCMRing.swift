import Glibc
package import Media
import Synchronization

/// The buffer of PCM between the decoder and the audio thread: one writer, one reader, no lock.
///
/// Both counts only increase while the two sides run, and their difference never exceeds the capacity. So
/// each side owns the bytes that the other side's count has released.
package final class PCMRing: PCMReader, @unchecked Sendable {
    // Unchecked: `storage` never changes; the reader touches the bytes from `taken` to `written`, the
    // writer the others, and each count is published with release and read with acquire ordering or stronger.
    private let storage: UnsafeMutableRawPointer
    private let capacity: Int
    private let bytesPerFrame: Int
    private let written = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    private let finished = Atomic<Bool>(false)
    private let lastContent: Atomic<Int>
    private static let contents = Atomic<Int>(0)
    private let space: SpaceSignal
    let fade = FadeOut()
    package let format: AudioFormat

    /// Two seconds survive a busy machine, and wake an idle one only once a second.
    private static let usualTime = Duration.seconds(2)
    /// Two seconds of stereo of 24 bits at 96 kHz. Of eight channels at 192 kHz they would take 12 MB.
    private static let mostBytes = 3 << 19
    /// The ring holds at least this time, however many bytes that takes: more than the 250 ms of the sink's
    /// own buffer, which is filled from the ring at the start. Of eight channels at 192 kHz, 1.8 MB.
    private static let leastTime = Duration.milliseconds(300)

    /// The frames of `format` that the player's ring holds.
    static func frames(for format: AudioFormat) -> FrameCount {
        let frames = min(format.frames(in: usualTime), FrameCount(mostBytes / format.bytesPerFrame))
        return max(frames, format.frames(in: leastTime))
    }

    /// Makes a ring for `frames` of `format`; `space` wakes the writer when there is room.
    package init(format: AudioFormat, frames: Int, space: SpaceSignal) {
        self.format = format
        lastContent = Atomic(Self.newContent())
        bytesPerFrame = format.bytesPerFrame
        capacity = max(1, frames) * bytesPerFrame
        storage = .allocate(byteCount: capacity, alignment: 16)
        self.space = space
    }

    deinit { storage.deallocate() }

    /// Frames written since the start, without those discarded.
    package var writtenFrames: FrameCount { FrameCount(written.load(ordering: .acquiring) / bytesPerFrame) }

    package var availableFrames: Int { availableBytes / bytesPerFrame }
    package var capacityFrames: Int { capacity / bytesPerFrame }

    package var availableBytes: Int {
        let taken = taken.load(ordering: .acquiring)
        return written.load(ordering: .acquiring) - taken
    }

    package var isFinished: Bool { finished.load(ordering: .acquiring) }

    // MARK: The audio thread's side

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let start = taken.load(ordering: .relaxed)
        let available = written.load(ordering: .acquiring) - start
        let count = min(available, buffer.count - buffer.count % bytesPerFrame)
        guard count > 0, let target = buffer.baseAddress else { return 0 }
        let offset = start % capacity
        let first = min(count, capacity - offset)
        target.copyMemory(from: storage + offset, byteCount: first)
        if first < count { (target + first).copyMemory(from: storage, byteCount: count - first) }
        fade.apply(to: UnsafeMutableRawBufferPointer(start: target, count: count), of: format)
        // Sequentially consistent with the writer's request: if room is made and requested at the same
        // moment, at least one side notices the other.
        taken.store(start + count, ordering: .sequentiallyConsistent)
        space.roomMade(capacity - (available - count))
        return count
    }

    // MARK: The writer's side

    /// Copies as many whole frames as there is room for, and returns their number of bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let end = written.load(ordering: .relaxed)
        let room = capacity - (end - taken.load(ordering: .acquiring))
        let count = min(room - room % bytesPerFrame, bytes.count)
        guard count > 0, let source = bytes.baseAddress else { return 0 }
        let offset = end % capacity
        let first = min(count, capacity - offset)
        (storage + offset).copyMemory(from: source, byteCount: first)
        if first < count { storage.copyMemory(from: source + first, byteCount: count - first) }
        written.store(end + count, ordering: .releasing)
        return count
    }

    /// Waits until half of the ring is free; waiting for less would wake the machine more often.
    package func waitForRoom() async throws { try await space.wait(for: capacity / 2) { [self] in room } }

    /// `true` if `waitForRoom` would return at once.
    package var hasRoom: Bool { room >= capacity / 2 }

    private var room: Int {
        capacity - (written.load(ordering: .relaxed) - taken.load(ordering: .sequentiallyConsistent))
    }

    /// Calls `body` with each contiguous piece of the written `frames` and the piece's first frame.
    ///
    /// They must be among the last `capacityFrames`. Only for the writer: no other thread overwrites them.
    func withFrames(_ frames: Range<FrameCount>, _ body: (UnsafeRawBufferPointer, FrameCount) -> Void) {
        var start = Int(frames.lowerBound) * bytesPerFrame
        let end = min(Int(frames.upperBound) * bytesPerFrame, written.load(ordering: .relaxed))
        precondition(end - start <= capacity, "these frames were overwritten")
        while start < end {
            let offset = start % capacity
            let count = min(end - start, capacity - offset)
            let piece = UnsafeRawBufferPointer(start: storage + offset, count: count)
            body(piece, FrameCount(start / bytesPerFrame))
            start += count
        }
    }

    /// Identifies the content: it differs for each ring and after each `discard`, because equal counts then
    /// mean different frames.
    var content: Int { lastContent.load(ordering: .acquiring) }

    private static func newContent() -> Int { contents.add(1, ordering: .relaxed).newValue }

    /// Marks the written frames as the last ones.
    package func finish() { finished.store(true, ordering: .releasing) }

    /// Drops the frames that were not read. Only allowed while neither side runs.
    package func discard() {
        lastContent.store(Self.newContent(), ordering: .releasing)
        written.store(taken.load(ordering: .acquiring), ordering: .releasing)
        finished.store(false, ordering: .releasing)
    }
}
