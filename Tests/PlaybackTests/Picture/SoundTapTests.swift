import Foundation
import Media
import TestSupport
import Testing

@testable import Playback

@Suite final class SoundTapTests {
    private let space = SpaceSignal()
    private let tap = SoundTap()

    deinit { space.stop() }

    private func ring(frames: Int = 1_000) -> PCMRing {
        PCMRing(format: AudioFormat(sampleRate: 1_000, channelCount: 1), frames: frames, space: space)
    }

    /// Writes frames that all have `value` into the ring, and notifies the tap.
    private func write(_ value: Int16, frames: Int, to ring: PCMRing) {
        let samples = [Int16](repeating: value, count: frames)
        let count = samples.withUnsafeBytes { ring.write($0) }
        #expect(count == frames * 2)
        tap.follow(ring)
    }

    private func take(_ frames: Int, from ring: PCMRing) {
        var bytes = [UInt8](repeating: 0, count: frames * 2)
        #expect(bytes.withUnsafeMutableBytes { ring.read(into: $0) } == frames * 2)
    }

    private func peak(at frame: FrameCount) -> Int? {
        tap.picture(at: frame).map { Int(($0.levels[0].peak * 32_768).rounded()) }
    }

    @Test func `no pictures are made or kept while none are watched`() {
        let ring = ring()
        write(100, frames: 500, to: ring)
        #expect(tap.pictureCount == 0 && tap.picture(at: 10) == nil)
        tap.watch(true)
        write(100, frames: 50, to: ring)
        #expect(tap.pictureCount > 0 && tap.picture(at: 510) != nil)
        tap.watch(false)
        let count = tap.pictureCount
        #expect(tap.picture(at: 510) == nil)
        write(100, frames: 200, to: ring)
        #expect(tap.pictureCount == count)
        tap.watch(true)
        #expect(tap.picture(at: 510) == nil, "pictures of an earlier watch are gone")
    }

    @Test func `a new watch shows frames that were written before and not heard yet`() {
        let ring = ring()
        write(100, frames: 900, to: ring)
        take(300, from: ring)
        tap.watch(true)
        write(200, frames: 100, to: ring)
        #expect(peak(at: 299) == nil)
        #expect(peak(at: 300) == 100 && peak(at: 899) == 100)
        #expect(peak(at: 950) == 200 && peak(at: 1_000) == nil)
    }

    @Test func `after a seek the pictures are those of the new music`() {
        let ring = ring()
        tap.watch(true)
        write(100, frames: 1_000, to: ring)
        take(400, from: ring)
        ring.discard()
        // More frames than were dropped, so that their count alone does not show the change.
        write(300, frames: 1_000, to: ring)
        #expect(peak(at: 399) == 100)
        #expect(peak(at: 400) == 300 && peak(at: 1_399) == 300)
        let fresh = self.ring()
        write(400, frames: 100, to: fresh)
        #expect(peak(at: 20) == 400)
        #expect(peak(at: 500) == nil, "another ring counts anew")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `the picture of a frame is that of the music written there`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ring = ring(frames: 400)
        tap.watch(true)
        // The value of each frame of the stream, as the sink hears it.
        var model: [Int16] = []
        var taken = 0
        for _ in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                ring.discard()
                model.removeLast(model.count - taken)
            case 1...5:
                let room = 400 - (model.count - taken)
                let count = min(room, Int.random(in: 1...150, using: &random))
                guard count > 0 else { continue }
                let value = Int16.random(in: 1...30_000, using: &random)
                write(value, frames: count, to: ring)
                model += Array(repeating: value, count: count)
            default:
                let count = min(model.count - taken, Int.random(in: 1...150, using: &random))
                guard count > 0 else { continue }
                take(count, from: ring)
                taken += count
            }
        }
        // A picture shows the loudest of fifty frames.
        for frame in max(0, taken - 200)..<model.count {
            guard let peak = peak(at: FrameCount(frame)) else { continue }
            let near = model[max(0, frame - 49)..<min(model.count, frame + 50)]
            #expect(near.contains(Int16(peak)), "frame \(frame)")
            if Set(near).count == 1 { #expect(peak == Int(model[frame])) }
        }
    }

    @Test func `the player shows the picture of the heard frames, and none before a watch`() async throws {
        let music = FakeMusic(number: 1, frames: 6_000)
        let stage = Stage([music], sink: TestSink(allowance: 700))
        try await stage.sound(heard: 700) { stage in
            #expect(stage.player.soundPicture == nil && stage.player.tap.pictureCount == 0)
            stage.player.watchSound(true)
            stage.sink.allow(frames: 1_500)
            try await wait(for: "a picture") {
                stage.sink.heardFrames == 2_200 && stage.player.soundPicture != nil
            }
            let peak = try #require(stage.player.soundPicture?.levels.first?.peak)
            // The music is noise: only stretches that contain the heard frame have its peak.
            let samples = music.pcm.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            let peaks = (2_151...2_200).map { start in
                (start..<start + 50).map { abs(Int(samples[$0 * 2])) }.max() ?? 0
            }
            #expect(peaks.contains(Int((peak * 32_768).rounded())))
            stage.player.watchSound(false)
            #expect(stage.player.soundPicture == nil)
        }
    }
}
