import Media
import TestSupport
import Testing

@testable import Decoding

/// Files that flac, ffmpeg and sox make play as the samples that went into them.
@Suite struct FLACReferenceTests {
    private static func wave(
        _ samples: MadeWave.Samples = .s16,
        channels: Int = 2,
        rate: Int = 44_100,
        seconds: Int = 1
    ) -> MadeWave {
        MadeWave(
            samples: samples,
            channels: channels,
            rate: rate,
            frames: rate * seconds + 77,
            seed: 9,
            loudness: 0.1
        )
    }

    static let levels = (0...8).map { MadeFLAC.byFlac(["-\($0)"], wave()) }
    static let blocks = [16, 192, 1_000, 16_384, 65_535].map {
        MadeFLAC.byFlac(["--blocksize=\($0)"], wave())
    }
    static let channels = (1...8).map { MadeFLAC.byFlac(["--channel-map=none"], wave(channels: $0)) }
    static let samples = [MadeWave.Samples.u8, .s24, .s32].map { MadeFLAC.byFlac([], wave($0)) }
    static let oddBits = [(MadeWave.Samples.s16, 12), (.s24, 20)].map { samples, bits in
        var wave = wave(samples)
        wave.header = .extensible(mask: 3)
        wave.validBits = bits
        return MadeFLAC.byFlac([], wave)
    }
    static let rates = [8_000, 11_025, 12_345, 22_050, 48_000, 88_200, 96_000, 192_000].map {
        MadeFLAC.byFlac([], wave(.s24, rate: $0))
    }
    static let others: [MadeFLAC] = [
        .byFFmpeg([], wave()), .byFFmpeg(["-compression_level", "12"], wave()),
        .byFFmpeg(["-sample_fmt", "s32", "-bits_per_raw_sample", "24"], wave(.s24)),
        .byFFmpeg(["-frame_size", "300"], wave()), .bySox(wave()), .bySox(wave(.s24)), .bySox(wave(.u8)),
    ]
    static let odd: [MadeFLAC] = [
        MadeFLAC.byFlac(["--blocksize=1024", "--no-seektable"], wave()).withVariableBlocks(),
        .byFlac(["--blocksize=65535", "--channel-map=none"], wave(.s24, channels: 8)),
        .byFlac(["--no-padding", "--no-seektable"], wave()), .byFlac(["-5", "--padding=300000"], wave()),
    ]

    @Test(arguments: levels + blocks + channels + samples + oddBits + rates + others + odd)
    func `a file of another program plays sample by sample, also after forty seeks`(made: MadeFLAC)
        async throws
    {
        try #require(!made.bytes.isEmpty)
        let bits = made.wave.validBits ?? made.wave.samples.byteCount * 8
        #expect(made.frames.head.stream?.bitsPerSample == bits)
        let decoder = try await openedFLAC(made.bytes)
        let info = decoder.info
        #expect(info.format.channels == ChannelPosition.customary(made.wave.channels))
        #expect(info.format.sampleRate == made.wave.rate)
        #expect(
            info.duration == info.format.duration(of: FrameCount(made.wave.frames)) && info.isDurationExact
        )
        let expected = made.wave.pcm
        expectSame(try await decodeBytes(decoder), expected)
        var random = SeededGenerator(seed: 3)
        for isFresh in [false, true] {
            let seeker = isFresh ? try await openedFLAC(made.bytes) : decoder
            for _ in 0..<20 {
                let time = Duration.milliseconds(Int.random(in: 0..<1_000, using: &random))
                let landing = try await seeker.seek(to: time)
                #expect(landing == SeekLanding(frame: info.format.frames(in: time), isExact: true))
                let rest = expected.dropFirst(Int(landing.frame) * info.format.bytesPerFrame)
                expectSame(try await decodeBytes(seeker, atMost: 5_000), rest.prefix(5_000), "\(time)")
            }
        }
    }
}
