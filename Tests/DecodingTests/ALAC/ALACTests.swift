import Media
import TestSupport
import Testing

@testable import Decoding

/// ALAC in MP4 files plays bit for bit.
@Suite struct ALACTests {
    typealias Made = MadeALAC

    static let channels = (1...8).map { Made.byFFmpeg(Made.wave(.s24, channels: $0)) }
    static let others = [
        Made.plain, .byFFmpeg(Made.wave(channels: 6)), .byFFmpeg(Made.wave(rate: 8_000, frames: 8_001)),
        .byFFmpeg(Made.wave(.s24, rate: 192_000, frames: 100_000)), .byFFmpeg(Made.wave(frames: 8_192)),
        .byFFmpeg(Made.wave(), []), .byFFmpeg(Made.wave(.s24), [], container: "mov"),
    ]
    /// Samples that the encoder does not pack: noise, and a last packet of few frames.
    static let unpacked =
        [Made.byFFmpeg(Made.wave(loudness: 1)), .byFFmpeg(Made.wave(.s24, loudness: 1))]
        + [1, 2, 5, 20].map { Made.byFFmpeg(Made.wave(.s24, frames: 8_192 + $0)) }
    static let widths = [16, 20, 24, 32].flatMap { width in
        [1, 2, 3, 6, 8].map { Made.byLibsndfile(width, Made.wave(.s32, channels: $0)) }
    }

    private func decoder(_ source: MemorySource) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: source, subject: "song.m4a"))
    }

    private func sound(of bytes: [UInt8]) async throws -> [UInt8] {
        try await decodeBytes(decoder(MemorySource(bytes, isStored: true)))
    }

    @Test(arguments: channels + others + unpacked + widths)
    func `a file plays sample by sample as ffmpeg decodes it, also after ten seeks`(made: MadeALAC)
        async throws
    {
        try #require(!made.bytes.isEmpty)
        let decoder = decoder(MemorySource(made.bytes, isStored: true))
        let heard = try await decodeBytes(decoder)
        expectSame(heard, try made.ffmpeg())
        let format = decoder.info.format
        let channels = made.wave.channels
        let positions = ChannelPosition.channels(ofMask: Made.masks[channels - 1], count: channels)
        #expect(format.channels == positions && format.sampleRate == made.wave.rate)
        #expect(format.sample == (made.width == 16 ? .s16 : .s32))
        #expect(decoder.info.codec == SafeText("M4A, ALAC, \(made.width) bits"))
        #expect(decoder.info.isDurationExact)
        #expect(decoder.info.duration == format.duration(of: FrameCount(made.wave.frames)))
        var random = SeededGenerator(seed: 3)
        for _ in 0..<10 {
            let frame = FrameCount.random(in: 0..<FrameCount(made.wave.frames), using: &random)
            let landing = try await decoder.seek(to: format.duration(of: frame))
            #expect(landing == SeekLanding(frame: frame, isExact: true))
            let part = try await decodeBytes(decoder, atMost: 3_000 * made.bytesPerFrame)
            let expected = heard.dropFirst(Int(frame) * made.bytesPerFrame).prefix(part.count)
            expectSame(part, expected, "from \(frame)")
        }
    }

    @Test(arguments: channels + others + unpacked + widths.filter { $0.wave.channels <= 2 })
    func `the samples are those that were encoded`(made: MadeALAC) async throws {
        expectSame(try await sound(of: made.bytes), made.pcm)
    }

    @Test func `the first sound takes one request with the tables in front, and two with them behind`()
        async throws
    {
        let wave = Made.wave(frames: 44_100 * 20, loudness: 0.1)
        for (made, requests) in [(Made.byFFmpeg(wave), 1), (.byFFmpeg(wave, []), 2)] {
            let source = MemorySource(made.bytes)
            let decoder = decoder(source)
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(source.requests.count == requests)
            #expect(decoder.info.duration == .seconds(20) && decoder.info.isDurationExact)
            // A far seek takes one more.
            let landing = try await decoder.seek(to: .seconds(15))
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(source.requests.count == requests + 1 && landing.isExact)
        }
    }

    @Test func `an edit list trims the file, and without one it plays from its first frame`() async throws {
        let made = Made.plain
        let list = try #require(made.place(of: "elst"))
        let edited = made.changed { bytes in
            // 2,000 ms from frame 1,001 on.
            bytes.replaceSubrange(list + 12..<list + 20, with: [0, 0, 0x7, 0xD0, 0, 0, 0x3, 0xE9])
        }
        let heard = try await sound(of: edited.bytes)
        expectSame(heard, made.wave.pcm.dropFirst(1_001 * 4).prefix(16_000 * 4))
        let edits = try #require(made.place(of: "edts"))
        let bare = made.changed { $0.replaceSubrange(edits..<edits + 4, with: "free".utf8) }
        expectSame(try await sound(of: bare.bytes), made.wave.pcm)
    }

    /// Fragments do not state the length of the last packet.
    @Test func `packets in fragments play, with silence up to the end of the last packet`() async throws {
        let flags = ["-movflags", "+frag_keyframe+empty_moov", "-frag_duration", "300000"]
        let made = Made.byFFmpeg(Made.wave(.s24), flags, container: "mp4")
        let heard = try await sound(of: made.bytes)
        #expect(heard.starts(with: made.wave.pcm))
        let rest = heard.dropFirst(made.wave.pcm.count)
        #expect(rest.count < 4_096 * made.bytesPerFrame && rest.allSatisfy { $0 == 0 })
    }

    @Test func `tags are read`() async throws {
        let words = ["title=Title", "artist=Someone"].flatMap { ["-metadata", $0] }
        let decoder = decoder(MemorySource(Made.byFFmpeg(Made.wave(), words).bytes))
        try await decoder.open()
        #expect(decoder.info.tags == TrackTags(title: "Title", artist: "Someone"))
    }

    /// A packet as an encoder writes it that cannot pack its samples: their bits one after the other.
    private func packet(_ numbers: [Int32], _ width: Int, channels: Int, isShort: Bool) -> [UInt8] {
        let pairs = [
            [1], [2], [1, 2], [1, 2, 1], [1, 2, 2], [1, 2, 2, 1], [1, 2, 2, 1, 1], [1, 2, 2, 2, 1],
        ]
        var bits: [UInt8] = []
        func put(_ number: UInt32, _ count: Int) {
            for index in (0..<count).reversed() { bits.append(UInt8(number >> UInt32(index) & 1)) }
        }
        let frames = numbers.count / channels
        var first = 0
        for count in pairs[channels - 1] {
            put(count == 2 ? 1 : 0, 3)
            put(0, 16)
            put(isShort ? 0b1001 : 0b0001, 4)
            if isShort { put(UInt32(frames), 32) }
            for frame in 0..<frames {
                for channel in first..<first + count {
                    put(UInt32(bitPattern: numbers[frame * channels + channel]) >> UInt32(32 - width), width)
                }
            }
            first += count
        }
        put(7, 3)
        return stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
        }
    }

    @Test(arguments: [16, 20, 24, 32], 1...8)
    func `samples that are not packed are exact in every width and number of channels`(
        width: Int,
        channels: Int
    ) async throws {
        let most = 512
        let settings = ALACHostileTests.settings(
            frames: UInt32(most),
            width: UInt8(width),
            channels: UInt8(channels)
        )
        let configuration = try ALACConfiguration(settings)
        let codec = try await ALACHandle.make(configuration)
        for frames in [most, 100, 1] {
            var wave = Made.wave(.s32, channels: channels, frames: frames, loudness: 1)
            wave.validBits = width
            let numbers = wave.numbers
            let packet = packet(numbers, width, channels: channels, isShort: frames < most)
            #expect(codec.decode(packet[...]) == most)
            var pcm = [UInt8](repeating: 1, count: most * codec.format.bytesPerFrame)
            pcm.withUnsafeMutableBytes { codec.copy(0..<most, into: $0) }
            let order = configuration.channels.map { codec.format.channels.firstIndex(of: $0) ?? 0 }
            let sampleByteCount = width == 16 ? 2 : 4
            var expected = [UInt8](repeating: 0, count: pcm.count)
            for (index, number) in numbers.enumerated() {
                let place = index - index % channels + order[index % channels]
                let bytes = little(UInt64(UInt32(bitPattern: number)), 4).suffix(sampleByteCount)
                expected.replaceSubrange(place * sampleByteCount..<(place + 1) * sampleByteCount, with: bytes)
            }
            expectSame(pcm, expected, "\(frames)")
        }
    }
}
