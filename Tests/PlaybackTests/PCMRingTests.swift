import Media
import System
import TestSupport
import Testing

@testable import Playback

@Suite final class PCMRingTests {
    private let space = SpaceSignal()

    deinit { space.stop() }

    /// Reads `count` bytes on a thread of its own, as a sink would, in pieces of seeded sizes.
    private func take(_ count: Int, from ring: PCMRing, seed: UInt64) -> OneShot<[UInt8]> {
        let taken = OneShot<[UInt8]>()
        NamedThread.start("taker") {
            var random = SeededGenerator(seed: seed)
            var all: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4_096)
            while all.count < count {
                let size = Int.random(in: 0...chunk.count, using: &random)
                let given = chunk.withUnsafeMutableBytes { ring.read(into: .init(rebasing: $0[..<size])) }
                all += chunk[..<given]
            }
            taken.give(all)
        }
        return taken
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `written bytes are read once and in order, whatever the sizes`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let format = AudioFormat(
            sampleRate: 44_100,
            channelCount: Int(seed) % 4 * 2 + 1,
            sample: SampleFormat.allCases[Int(seed) % 3]
        )
        let ring = PCMRing(format: format, frames: Int.random(in: 1...1_000, using: &random), space: space)
        let source = ByteFixtures.bytes(count: 60_000 * format.bytesPerFrame, seed: seed)
        let taken = take(source.count, from: ring, seed: seed + 100)
        var written = 0
        while written < source.count {
            let frames = Int.random(in: 1...1_200, using: &random)
            let end = min(source.count, written + frames * format.bytesPerFrame)
            let count = source[written..<end].withUnsafeBytes { ring.write($0) }
            #expect(count % format.bytesPerFrame == 0)
            written += count
            if count == 0 { try await ring.waitForRoom() }
        }
        #expect(await taken.wait(ifCancelled: []) == source)
        #expect(ring.availableFrames == 0 && ring.writtenFrames == 60_000)
    }

    @Test(arguments: SampleFormat.allCases)
    func `a fade ends in silence, and what is read after its end is heard again`(sample: SampleFormat) {
        let format = AudioFormat(sampleRate: 8_000, channelCount: 1, sample: sample)
        let ring = PCMRing(format: format, frames: 100, space: space)
        // Neither of the bytes is 0, so silence can't be mistaken for music.
        let music = [UInt8](repeating: 0x11, count: 10 * format.bytesPerFrame)
        func read() -> [UInt8] {
            _ = music.withUnsafeBytes { ring.write($0) }
            var bytes = music
            #expect(bytes.withUnsafeMutableBytes { ring.read(into: $0) } == music.count)
            return bytes
        }
        #expect(read() == music)
        ring.fade.begin(left: 20, of: 20)
        let first = read()
        #expect(first.prefix(format.bytesPerFrame) == music.prefix(format.bytesPerFrame) && first != music)
        #expect(read() != first)
        #expect(read() == [UInt8](repeating: 0, count: music.count))
        ring.fade.end()
        #expect(read() == music)
    }

    @Test func `discarding empties the ring and keeps the count of frames read`() {
        let ring = PCMRing(format: AudioFormat(sampleRate: 8_000, channelCount: 1), frames: 10, space: space)
        _ = [UInt8](repeating: 1, count: 20).withUnsafeBytes { ring.write($0) }
        var three = [UInt8](repeating: 0, count: 7)
        #expect(three.withUnsafeMutableBytes { ring.read(into: $0) } == 6)
        ring.finish()
        ring.discard()
        #expect(ring.availableBytes == 0 && ring.writtenFrames == 3 && !ring.isFinished)
    }

    @Test(arguments: 0..<4)
    func `a cancelled wait for room ends, and the next wait still works`(round: Int) async throws {
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
