import Media
import TestSupport
import Testing

@Suite
struct AudioFormatTests {
    @Test(arguments: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000])
    func `a frame's own time leads back to the frame`(rate: Int) {
        let format = AudioFormat(sampleRate: rate, channelCount: 2)
        var random = SeededGenerator(seed: UInt64(rate))
        let frames =
            (0..<2_000).map { FrameCount($0) }
            + (0..<2_000).map { _ in .random(in: 0..<1 << 40, using: &random) }
        #expect(frames.allSatisfy { format.frames(in: format.duration(of: $0)) == $0 })
    }

    @Test(arguments: [8_000, 44_100, 48_000])
    func `a time between two frames belongs to the earlier one`(rate: Int) {
        let format = AudioFormat(sampleRate: rate, channelCount: 1)
        for frame in 0..<1_000 as Range<FrameCount> {
            #expect(format.frames(in: format.duration(of: frame + 1) - .nanoseconds(10)) == frame)
        }
    }

    @Test(arguments: [8_000, 44_100, 48_000, 96_000])
    func `seconds with decimals lead to the frame that they state`(rate: Int) {
        let format = AudioFormat(sampleRate: rate, channelCount: 2)
        for hundredths in stride(from: 1, to: 400_000, by: 7) as StrideTo<Int64> {
            let time = Duration.seconds(Double(hundredths) / 100)
            #expect(format.frames(in: time) == hundredths * Int64(rate) / 100)
        }
        #expect(AudioFormat(sampleRate: 44_100, channelCount: 2).frames(in: .seconds(221.23)) == 9_756_243)
    }

    @Test(
        arguments: [
            (.seconds(-1), 0), (.zero, 0), (.seconds(1), 48_000), (.milliseconds(1_500), 72_000),
            // Times beyond all music do not overflow.
            (.seconds(Int64.max), .max / 4), (.seconds(Int64.max / 48_000), .max / 4),
        ] as [(Duration, FrameCount)]
    )
    func `a time has as many frames as its rate says`(time: Duration, frames: FrameCount) {
        #expect(AudioFormat(sampleRate: 48_000, channelCount: 2).frames(in: time) == frames)
    }

    @Test(arguments: [(1, .s16, 2), (2, .s16, 4), (6, .f32, 24)] as [(Int, SampleFormat, Int)])
    func `a frame has one sample for each channel`(channelCount: Int, sample: SampleFormat, bytes: Int) {
        #expect(
            AudioFormat(sampleRate: 8_000, channelCount: channelCount, sample: sample).bytesPerFrame == bytes
        )
    }

    @Test(arguments: AudioFormat.channelCounts)
    func `a customary order names each channel once`(count: Int) {
        let channels = ChannelPosition.customary(count)
        #expect(channels.count == count && Set(channels).count == count)
    }

    @Test func `another order, or another kind of sample, is another format`() {
        let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
        #expect(stereo == AudioFormat(sampleRate: 48_000, channels: [.frontLeft, .frontRight]))
        #expect(stereo != AudioFormat(sampleRate: 48_000, channels: [.frontRight, .frontLeft]))
        #expect(stereo != AudioFormat(sampleRate: 48_000, channelCount: 2, sample: .f32))
    }

    @Test(arguments: AudioFormat.channelCounts)
    func `a channel mask leads back to its channels`(count: Int) {
        let channels = ChannelPosition.customary(count)
        let mask = ChannelPosition.mask(of: channels)
        #expect((mask == 0) == (count == 1))
        #expect(ChannelPosition.channels(ofMask: mask, count: count) == channels)
    }

    @Test func `a channel mask states an order, and one that fits no channels states none`() {
        #expect(ChannelPosition.channels(ofMask: 0x60F, count: 6).suffix(2) == [.sideLeft, .sideRight])
        #expect(ChannelPosition.channels(ofMask: 0x4, count: 1) == [.mono])
        for (mask, count) in [(0, 2), (0x7, 2), (0x801, 2), (UInt32.max, 8)] as [(UInt32, Int)] {
            #expect(ChannelPosition.channels(ofMask: mask, count: count) == ChannelPosition.customary(count))
        }
        #expect(ChannelPosition.mask(of: [.frontRight, .frontLeft]) == 0)
    }
}
