import Media
import System
import Testing

struct WaveformTests {
    private static let stereo = AudioFormat(sampleRate: 44_100, channelCount: 2)

    /// The waveform of samples that are the same on both channels, decoded in pieces of `piece` frames.
    private static func waveform(
        _ samples: [Float],
        of duration: Duration? = nil,
        piece: Int = 4_608,
        format: AudioFormat = stereo
    ) -> Waveform {
        var waveform = Waveform(duration: duration)
        for start in stride(from: 0, to: samples.count, by: piece) {
            add(samples[start..<min(start + piece, samples.count)], at: start, format, to: &waveform)
        }
        return waveform
    }

    private static func add(
        _ samples: ArraySlice<Float>,
        at frame: Int,
        _ format: AudioFormat,
        to waveform: inout Waveform
    ) {
        let all = samples.flatMap { Array(repeating: $0, count: format.channelCount) }
        func pass<Sample>(_ pcm: [Sample]) {
            pcm.withUnsafeBytes { waveform.add($0, of: format, at: FrameCount(frame)) }
        }
        switch format.sample {
        case .s16: pass(all.map { Int16(clamping: Int(($0 * 32_768).rounded())) })
        case .s32: pass(all.map { Int32(clamping: Int((Double($0) * 2_147_483_648).rounded())) })
        case .f32: pass(all)
        }
    }

    /// A tone that gets louder for the first half and softer for the second.
    private static func swell(_ count: Int) -> [Float] {
        (0..<count).map { index in
            let share = Float(index) / Float(count)
            return (index % 100 < 50 ? 1 : -1) * (share < 0.5 ? share * 2 : 2 - share * 2)
        }
    }

    @Test(arguments: [2, 3, 59, 185, 600, 3_725, 36_000, 360_000])
    func `a track of more than a second has 800 to 2,000 columns`(seconds: Int64) {
        var waveform = Waveform(duration: .seconds(seconds))
        let last = FrameCount(seconds * 44_100 - 20)
        [Int16](repeating: 9, count: 40).withUnsafeBytes { waveform.add($0, of: Self.stereo, at: last) }
        #expect((800...2_000).contains(waveform.columns.count))
        #expect(waveform.columns.dropLast().allSatisfy { $0 == 0 } && waveform.columns.last == 1)
    }

    @Test func `bars are as high as the music is loud`() {
        let samples = Self.swell(44_100 * 4)
        let heights = Self.waveform(samples, of: .seconds(4)).heights(8, of: .seconds(4))
        let expected: [Float] = [0.125, 0.375, 0.625, 0.875, 0.875, 0.625, 0.375, 0.125]
        #expect(heights.count == 8)
        for (height, expected) in zip(heights, expected) { #expect(abs((height ?? 9) - expected) < 0.02) }
    }

    @Test(arguments: [SampleFormat.s16, .s32, .f32], [1, 2, 6])
    func `all formats of samples have the same waveform`(sample: SampleFormat, channels: Int) {
        let samples = Self.swell(20_000)
        let format = AudioFormat(sampleRate: 44_100, channelCount: channels, sample: sample)
        let other = Self.waveform(samples, format: format)
        for (left, right) in zip(other.columns, Self.waveform(samples).columns) {
            #expect(abs(Int(left) - Int(right)) <= 1)
        }
        #expect(other.columns.count == 454)
    }

    @Test(arguments: [1, 7, 441, 4_608, 200_000])
    func `it does not matter in which pieces the music is decoded`(piece: Int) {
        let samples = Self.swell(100_000)
        #expect(Self.waveform(samples, piece: piece) == Self.waveform(samples, piece: 1_000))
    }

    @Test func `while a track grows, each two columns become one, with the higher peak`() {
        let samples = Self.swell(44_100 * 9)
        let grown = Self.waveform(samples)
        let known = Self.waveform(samples, of: .seconds(9))
        #expect((800...2_000).contains(grown.columns.count))
        #expect(grown.columns.count == known.columns.count)
        // A column of the shorter step may reach over the end of two.
        for (left, right) in zip(grown.columns, known.columns) { #expect(abs(Int(left) - Int(right)) <= 2) }
    }

    @Test func `what was not decoded is unknown, and known once another pass has decoded it`() {
        let samples = Self.swell(44_100 * 4)
        var front = Waveform(duration: .seconds(4))
        Self.add(samples[..<44_100], at: 0, Self.stereo, to: &front)
        #expect(front.heights(4, of: .seconds(4)).map { $0 == nil } == [false, true, true, true])
        // Of unknown duration at first, so with a shorter step.
        var middle = Waveform()
        Self.add(samples[44_100..<88_200], at: 44_100, Self.stereo, to: &middle)
        front.merge(middle)
        #expect(front.heights(4, of: .seconds(4)).map { $0 == nil } == [false, false, true, true])
        middle.merge(front)
        #expect(middle == front)
        Self.add(samples[88_200...], at: 88_200, Self.stereo, to: &front)
        let whole = Self.waveform(samples, of: .seconds(4))
        for (left, right) in zip(front.columns, whole.columns) { #expect(abs(Int(left) - Int(right)) <= 2) }
    }

    @Test func `the first time of which nothing is known is found`() {
        let samples = Self.swell(44_100 * 4)
        var waveform = Waveform(duration: .seconds(4))
        #expect(waveform.firstGap(from: .seconds(1), before: .seconds(4)) == .seconds(1))
        Self.add(samples[..<88_200], at: 0, Self.stereo, to: &waveform)
        #expect(waveform.firstGap(from: .zero, before: .seconds(4)) == .seconds(2))
        #expect(waveform.firstGap(from: .zero, before: .seconds(2)) == nil)
        #expect(waveform.isKnown(at: .milliseconds(1_999)) && !waveform.isKnown(at: .seconds(2)))
    }

    @Test func `silence is known, and noise beyond full scale and not-a-number are no more than full scale`()
    {
        #expect(Self.waveform(Array(repeating: 0, count: 100)).columns == [1, 1, 1])
        let format = AudioFormat(sampleRate: 1_000, channelCount: 1, sample: .f32)
        #expect(Self.waveform([0.5, .nan, -7, .infinity], format: format).columns == [128, 1, 255, 255])
    }

    @Test func `it is stored and read again, and bytes of another form are not read`() {
        let waveform = Self.waveform(Self.swell(100_000))
        #expect(Waveform(bytes: waveform.bytes) == waveform)
        #expect(Waveform(bytes: []) == nil)
        #expect(Waveform(bytes: [33, 1]) == nil && Waveform(bytes: [32, 1]) != nil)
        #expect(Waveform(bytes: Array(repeating: 1, count: 2_002)) == nil)
    }

    @Test func `times that no music has are left out`() {
        var waveform = Self.waveform(Self.swell(1_000))
        let before = waveform
        for frame in [FrameCount.max, 1 << 55, -1] {
            [UInt8](repeating: 0x40, count: 400).withUnsafeBytes {
                waveform.add($0, of: AudioFormat(sampleRate: 8_000, channelCount: 1), at: frame)
            }
        }
        #expect(waveform == before)
    }

    @Test func `without a duration or bars there are no heights`() {
        let waveform = Self.waveform([0.5, 0.5])
        #expect(waveform.heights(0, of: .seconds(1)).isEmpty)
        #expect(waveform.heights(3, of: .zero).isEmpty)
        #expect(Waveform().heights(2, of: .seconds(1)) == [nil, nil])
    }
}
