import Decoding
import Media
import TestSupport
import Testing

@Suite struct GaplessTrimTests {
    private func trim(frames: Int?, delay: Int?, padding: Int?) throws -> GaplessTrim {
        let header = try #require(FrameHeader(0xFFFB_9000))
        let frame = xingFrame("Info", frames: frames, delay: delay, padding: padding)
        return GaplessTrim(XingHeader(frame[...], header: header), samplesPerFrame: 1152)
    }

    @Test(
        arguments: [(576, 1_000, 1_105, 11_049..<11_520), (nil, nil, 529, 11_520..<11_520)]
            as [(Int?, Int?, FrameCount, Range<FrameCount>)]
    )
    func `delay and padding are trimmed, each corrected by the decoder's own delay`(
        delay: Int?,
        padding: Int?,
        start: FrameCount,
        trimmed: Range<FrameCount>
    ) throws {
        let trim = try trim(frames: 10, delay: delay, padding: padding)
        #expect(trim.start == start && trim.padding == trimmed)
        #expect(trim.musicLength == trimmed.lowerBound - start)
    }

    @Test func `without a frame count nothing is trimmed`() throws {
        #expect(try trim(frames: nil, delay: 576, padding: 1_000) == .none)
        #expect(GaplessTrim.none.music(in: 0..<10) == [0..<10])
    }

    @Test func `absurd numbers leave no music rather than crash`() throws {
        let trim = try trim(frames: 1, delay: 4_095, padding: 4_095)
        #expect(trim.musicLength == 0)
        #expect(trim.music(in: 0..<1_152) == [])
        // What follows the counted frames plays even so.
        #expect(trim.music(in: 1_152..<9_216).map(\.upperBound) == [9_216])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `slices of any length contain the same samples, and their positions count up`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let frames = Int64.random(in: 3...20, using: &random)
        let trim = try trim(
            frames: Int(frames),
            delay: .random(in: 0...1_200, using: &random),
            padding: .random(in: 0...2_000, using: &random)
        )
        let all = (frames + 3) * 1_152
        var kept: [FrameCount] = []
        var place: FrameCount = 0
        while place < all {
            let next = min(all, place + .random(in: 1...1_500, using: &random))
            for part in trim.music(in: place..<next) { kept.append(contentsOf: part) }
            place = next
        }
        #expect(kept == trim.music(in: 0..<all).flatMap(Array.init))
        for (position, sample) in kept.enumerated() where position % 97 == 0 {
            #expect(trim.position(ofSample: sample) == FrameCount(position))
            #expect(trim.sample(at: FrameCount(position)) == sample)
        }
    }
}
