import Media
import TestSupport
import Testing

@testable import Decoding

/// FLAC in Ogg plays as the samples that went into it.
@Suite struct OggFLACTests {
    private static let words = ["--ogg", "--serial-number=7"]
    private static let plain = MadeFLAC.byFlac(words)
    /// Without a number of frames and an MD5, which ffmpeg writes only into files of bare FLAC.
    private static let unknown = MadeFLAC.byFFmpeg(["-c:a", "flac", "-serial_offset", "7"], container: "ogg")
    private static let studio = MadeFLAC.byFlac(words, wave(.s24, rate: 96_000))
    /// Frames of a quarter of a megabyte, so that none lies within one page.
    private static let wide = {
        var wave = MadeWave(samples: .s24, channels: 8, rate: 96_000, frames: 96_000 * 3, loudness: 0.5)
        wave.header = .extensible(mask: 0x63F)
        return MadeFLAC.byFlac(words + ["--blocksize=16384"], wave)
    }()
    private static let all = [
        plain, unknown, studio, wide, .byFlac(words, wave(.u8, channels: 1, rate: 8_000)),
        .byFlac(words, wave(.s32)), .byFlac(words + ["--blocksize=192"], wave(.s16)),
        .byFFmpeg(
            ["-c:a", "flac", "-sample_fmt", "s32", "-page_duration", "100000"],
            wave(.s24),
            container: "ogg"
        ),
    ]

    private static func wave(_ samples: MadeWave.Samples, channels: Int = 2, rate: Int = 44_100) -> MadeWave {
        MadeWave(samples: samples, channels: channels, rate: rate, frames: rate * 3 + 77, loudness: 0.1)
    }

    private func decoder(_ bytes: [UInt8], isStored: Bool = true) async throws -> OggDecoder {
        let source = MemorySource(bytes, isStored: isStored)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        return decoder
    }

    private func pages(_ made: MadeFLAC) -> [OggPageWalk.Found] { MadeOgg("", .flac, made.bytes).pages }

    @Test(arguments: all)
    func `every sample is that of the original, also after forty seeks`(made: MadeFLAC) async throws {
        let expected = made.wave.pcm
        #expect(!made.bytes.isEmpty)
        expectSame(try await decodeBytes(try await decoder(made.bytes)), expected)
        let decoder = try await decoder(made.bytes)
        let format = decoder.info.format
        #expect(format.sample == (made.wave.samples.byteCount <= 2 ? .s16 : .s32))
        #expect(decoder.info.duration == format.duration(of: FrameCount(made.wave.frames)))
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let frame = FrameCount.random(in: 0..<FrameCount(made.wave.frames), using: &random)
            let landing = try await decoder.seek(to: format.duration(of: frame))
            #expect(landing == SeekLanding(frame: frame, isExact: true))
            let heard = try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame)
            expectSame(heard, expected.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count))
            #expect(!heard.isEmpty)
        }
    }

    @Test func `a seek among frames that are longer than a page reads only what is near`() async throws {
        let source = MemorySource(Self.wide.bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        let before = source.requests.count
        _ = try await decoder.seek(to: .milliseconds(2_500))
        _ = try await decodeBytes(decoder, atMost: 8 * 4 * 1_000)
        let bytes = source.requests.dropFirst(before).reduce(0) { $0 + $1.count }
        #expect(bytes < Self.wide.bytes.count / 2, "\(bytes)")
    }

    /// Songs with pages of 45 to 65 KB, as encoders write them.
    private static let loud = [
        MadeFLAC.byFlac(words, noise(.s16)), .byFlac(words, noise(.s24)),
        .byFFmpeg(["-c:a", "flac", "-serial_offset", "7"], noise(.s16), container: "ogg"),
        .byFlac(words, noise(.s24, rate: 96_000)),
    ]

    private static func noise(_ samples: MadeWave.Samples, rate: Int = 44_100) -> MadeWave {
        MadeWave(samples: samples, rate: rate, frames: 1_500_000, seed: 2, loudness: 0.4)
    }

    @Test(arguments: loud)
    func `the first sound of large pages takes two requests, and so does every far seek`(made: MadeFLAC)
        async throws
    {
        let expected = made.wave.pcm
        let statesLength = made.testDescription.hasPrefix("flac")
        var random = SeededGenerator(seed: 6)
        var counts: [Int] = []
        for number in 0..<12 {
            let source = MemorySource(made.bytes)
            let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
            try await decoder.open()
            let format = decoder.info.format
            let frame =
                number == 0 ? 0 : FrameCount.random(in: 0..<FrameCount(made.wave.frames), using: &random)
            let before = number == 0 ? 0 : source.requests.count
            if number > 0 { _ = try await decoder.seek(to: format.duration(of: frame)) }
            let heard = try await decodeBytes(
                decoder,
                atMost: format.sampleRate / 4 * format.bytesPerFrame
            )
            expectSame(heard, expected.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count))
            counts.append(source.requests.count - before)
        }
        #expect(counts[0] <= 2 && counts.dropFirst().allSatisfy { $0 <= (statesLength ? 2 : 3) }, "\(counts)")
    }

    @Test func `the head states the tags, the gain, the codec and the length`() async throws {
        let tags = ["TITLE=Shore", "ARTIST=Someone", "REPLAYGAIN_TRACK_GAIN=-6.5 dB"].map { "--tag=" + $0 }
        let bytes = MadeFLAC.byFlac(Self.words + tags + ["--blocksize=1152"], Self.wave(.s24, rate: 22_050))
            .bytes
        let source = MemorySource(bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        let info = decoder.info
        #expect(info.tags == TrackTags(title: "Shore", artist: "Someone"))
        #expect(info.loudness?.track.gain == -6.5 && info.codec == "Ogg, FLAC, 24 bits")
        #expect(info.duration == info.format.duration(of: 22_050 * 3 + 77) && info.isDurationExact)
        #expect(source.requests == [0..<65_536])
        // Nor does a seek need the end.
        _ = try await decoder.seek(to: .seconds(1))
        #expect(source.requests.allSatisfy { $0.upperBound < Int64(bytes.count) })
    }

    @Test func `a stream of unknown length learns it from its last page`() async throws {
        let source = MemorySource(Self.unknown.bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        #expect(!decoder.info.isDurationExact && decoder.info.duration != nil)
        source.store(0..<Int64(Self.unknown.bytes.count))
        _ = try await decoder.scanStored()
        #expect(decoder.info.duration == .seconds(12) && decoder.info.isDurationExact)
    }

    /// Compares `bytes` with the samples of `made` page by page: those of page `damaged` are silent.
    private func expectSilence(
        _ bytes: [UInt8],
        _ made: MadeFLAC,
        frames damaged: Range<Int>,
        _ place: String
    )
        async throws
    {
        let heard = try await decodeBytes(try await decoder(bytes))
        let width = heard.count / made.wave.frames
        var expected = made.wave.pcm
        for index in damaged.lowerBound * width..<damaged.upperBound * width { expected[index] = 0 }
        expectSame(heard, expected, place)
    }

    /// The granule positions around page `number`.
    private func frames(_ pages: [OggPageWalk.Found], _ number: Int) -> Range<Int> {
        Int(pages[number - 1].page.granule ?? 0)..<Int(pages[number].page.granule ?? 0)
    }

    @Test(arguments: [plain, unknown, studio])
    func `a damaged page is silence of its length, and all around it is exact`(made: MadeFLAC) async throws {
        let pages = pages(made)
        // No packet goes on from one page to the next, so the hole is what the page has.
        let number = try #require(
            pages.indices.dropFirst(5).first { index in
                index + 1 < pages.count && !pages[index].page.isContinued
                    && !pages[index + 1].page.isContinued
            }
        )
        var bytes = made.bytes
        for index in 0..<100 { bytes[Int(pages[number].offset) + 300 + index] ^= 0x55 }
        try await expectSilence(bytes, made, frames: frames(pages, number), "flipped")
        bytes = made.bytes
        bytes.removeSubrange(Int(pages[number].offset)..<Int(pages[number].end))
        try await expectSilence(bytes, made, frames: frames(pages, number), "missing")
    }

    /// The damage is older than the container: the page has the checksum of what it holds.
    @Test(arguments: [0, 2, 5, 700])
    func `a damaged frame in an intact page is silence of its length`(place: Int) async throws {
        let pages = pages(Self.plain)
        let number = pages.count / 2
        #expect(!pages[number].page.isContinued)
        var bytes = Self.plain.bytes
        bytes[Int(pages[number].offset) + pages[number].page.headByteCount + place] ^= 0x10
        MadeOgg.mend(&bytes)
        let start = frames(pages, number).lowerBound
        try await expectSilence(bytes, Self.plain, frames: start..<start + 4_096, "byte \(place)")
    }

    @Test(arguments: [plain, unknown, studio])
    func `a cut file plays to the cut, whatever length its head states`(made: MadeFLAC) async throws {
        let cut = Array(made.bytes.dropLast(made.bytes.count / 3))
        for isStored in [true, false] {
            let decoder = try await decoder(cut, isStored: isStored)
            let heard = try await decodeBytes(decoder)
            #expect(heard.count > made.wave.pcm.count / 2 && heard.count < made.wave.pcm.count * 3 / 4)
            expectSame(heard, made.wave.pcm.prefix(heard.count))
            let format = decoder.info.format
            let frames = FrameCount(heard.count / format.bytesPerFrame)
            #expect(decoder.info.duration == format.duration(of: frames))
        }
    }

    @Test func `streams that follow each other all play, each with its own bits and length`() async throws {
        let second = MadeFLAC.byFlac(["--ogg", "--serial-number=8"], Self.wave(.s24, channels: 1))
        let chain = Self.plain.bytes + second.bytes
        let decoder = try await decoder(chain)
        // The end shows another stream, so that the length in the first head is not that of all.
        #expect(!decoder.info.isDurationExact)
        expectSame(try await decodeBytes(decoder), Self.plain.wave.pcm)
        #expect(decoder.info.codec == "Ogg, FLAC, 24 bits" && decoder.info.format.channelCount == 1)
        expectSame(try await decodeBytes(decoder), second.wave.pcm)
        let landing = try await decoder.seek(to: .seconds(13))
        #expect(landing == SeekLanding(frame: 44_100 * 13, isExact: true))
        expectSame(try await decodeBytes(decoder), second.wave.pcm.dropFirst(44_100 * 4))
        // What a session learned before it saw the end does not hide the second stream from the next one.
        let source = MemorySource(chain)
        let first = OggDecoder(ProbedStream(source: source, subject: "song"))
        _ = try await decodeBytes(first, atMost: 100_000)
        let next = OggDecoder(
            ProbedStream(
                source: MemorySource(chain, isStored: true),
                subject: "song",
                seekTable: first.seekTable()
            )
        )
        try await next.open()
        #expect(!next.info.isDurationExact)
    }

    @Test func `a broadcast that is entered in the middle plays from there on`() async throws {
        let pages = pages(Self.unknown)
        let number = pages.count / 2
        let music = pages[number...].first { !$0.page.isContinued } ?? pages[number]
        let before = try #require(pages.last { $0.offset < music.offset })
        let bytes = Self.unknown.bytes[..<Int(pages[2].offset)] + Self.unknown.bytes[Int(music.offset)...]
        let heard = try await decodeBytes(try await decoder(Array(bytes)))
        expectSame(heard, Self.unknown.wave.pcm.dropFirst(Int(before.page.granule ?? 0) * 4))
        #expect(!heard.isEmpty)
    }
}
