import Media
import Playback
import System
import TestSupport
import Testing

@Suite struct PCMRingTests {
    /// Takes bytes on a thread of its own, as a sink would, in pieces of seeded sizes.
    private final class Taker: Sendable {
        let taken = Locked<[UInt8]>([])
        let isDone = Locked(false)

        func run(_ ring: PCMRing, bytes: Int, seed: UInt64) {
            NamedThread.start("taker") { [self] in
                var random = SeededGenerator(seed: seed)
                var all: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 4_096)
                while all.count < bytes {
                    let size = Int.random(in: 0...chunk.count, using: &random)
                    let count = chunk.withUnsafeMutableBytes { buffer in
                        ring.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]))
                    }
                    all += chunk[..<count]
                }
                taken.withLock { $0 = all }
                isDone.withLock { $0 = true }
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `written bytes are read once and in order, whatever the sizes`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let format = AudioFormat(
            sampleRate: 44_100,
            channelCount: Int(seed) % 4 * 2 + 1,
            sample: SampleFormat.allCases[Int(seed) % 3]
        )
        let space = SpaceSignal()
        defer { space.stop() }
        let ring = PCMRing(format: format, frames: Int.random(in: 1...1_000, using: &random), space: space)
        let source = ByteFixtures.bytes(count: 60_000 * format.bytesPerFrame, seed: seed)
        let taker = Taker()
        taker.run(ring, bytes: source.count, seed: seed + 100)
        var written = 0
        while written < source.count {
            let frames = Int.random(in: 1...1_200, using: &random)
            let end = min(source.count, written + frames * format.bytesPerFrame)
            let count = source[written..<end].withUnsafeBytes { ring.write($0) }
            #expect(count % format.bytesPerFrame == 0)
            written += count
            if count == 0 { try await ring.waitForRoom() }
        }
        try await wait(for: "the taker") { taker.isDone.withLock { $0 } }
        #expect(taker.taken.withLock { $0 } == source)
        #expect(ring.availableFrames == 0)
        #expect(ring.writtenFrames == 60_000)
    }

    @Test func `discarding empties the ring and keeps the count of frames read`() {
        let space = SpaceSignal()
        defer { space.stop() }
        let ring = PCMRing(format: AudioFormat(sampleRate: 8_000, channelCount: 1), frames: 10, space: space)
        _ = [UInt8](repeating: 1, count: 20).withUnsafeBytes { ring.write($0) }
        var three = [UInt8](repeating: 0, count: 7)
        #expect(three.withUnsafeMutableBytes { ring.read(into: $0) } == 6)
        ring.finish()
        ring.discard()
        #expect(ring.availableBytes == 0)
        #expect(ring.writtenFrames == 3)
        #expect(!ring.isFinished)
    }

    @Test(arguments: 0..<4)
    func `a wait for room ends when its task is cancelled, and the next wait still works`(round: Int)
        async throws
    {
        let space = SpaceSignal()
        defer { space.stop() }
        let ring = PCMRing(format: AudioFormat(sampleRate: 8_000, channelCount: 1), frames: 4, space: space)
        _ = [UInt8](repeating: 1, count: 8).withUnsafeBytes { ring.write($0) }
        let cancelled = Task { try await ring.waitForRoom() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let waiting = Task { try await ring.waitForRoom() }
        var room = [UInt8](repeating: 0, count: 8)
        #expect(room.withUnsafeMutableBytes { ring.read(into: $0) } == 8)
        try await waiting.value
    }
}
