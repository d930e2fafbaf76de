import Media
import TestSupport
import Testing

@testable import Decoding

/// What `oggenc` and `opusenc` made plays as `oggdec` and `opusdec` decode it.
@Suite struct OggReferenceTests {
    static let vorbis = [
        .vorbis, MadeOgg(.vorbis, ["-q", "8"], seconds: 3, rate: 48_000),
        MadeOgg(.vorbis, ["-q", "-1"], rate: 8_000, channels: 1),
        MadeOgg(.vorbis, ["-b", "64", "--managed"], seconds: 4, rate: 22_050),
        MadeOgg(.vorbis, [], seconds: 4, rate: 48_000, channels: 6),
        MadeOgg(.vorbis, [], seconds: 1, rate: 96_000),
    ]
    static let opus = [
        .opus, MadeOgg(.opus, ["--bitrate", "24"], seconds: 6, rate: 16_000, channels: 1),
        MadeOgg(.opus, ["--framesize", "60", "--max-delay", "100"], seconds: 4, rate: 48_000),
        MadeOgg(.opus, ["--framesize", "2.5", "--hard-cbr"], seconds: 3, rate: 48_000),
        MadeOgg(.opus, ["--bitrate", "256"], seconds: 3, rate: 48_000, channels: 6),
        MadeOgg(.opus, [], seconds: 2, rate: 48_000, channels: 3),
    ]

    private func decoder(_ made: MadeOgg, isStored: Bool = true) async throws -> OggDecoder {
        let source = MemorySource(made.bytes, isStored: isStored)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        return decoder
    }

    /// Its pages have a second of music, 40 kB, of which the head shows one or two.
    @Test func `a far seek in Opus of 320 kbit per second requests pages and priming at once`() async throws {
        let song = MadeOgg(.opus, ["--bitrate", "320"])
        let source = MemorySource(song.bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        let opening = source.announced.count
        _ = try await decoder.seek(to: .seconds(8))
        let window = try #require(source.announced.dropFirst(opening).first)
        #expect((3 * 40_000 + 60_000...352 << 10).contains(window.count), "\(window)")
    }

    @Test(arguments: vorbis)
    func `Vorbis gives the samples of oggdec, also after forty seeks`(made: MadeOgg) async throws {
        let expected = try made.oggdec()
        let whole = try await decodeBytes(try await decoder(made))
        let decoder = try await decoder(made)
        let channels = decoder.info.format.channelCount
        // oggdec leaves the channels of more than two in the order of Vorbis.
        let order = VorbisHead.order(of: channels)
        let ours = rounded(floats(whole))
        let theirs = ours.indices.map { expected[$0 - $0 % channels + order[$0 % channels]] }
        #expect(ours.count == expected.count && !ours.isEmpty)
        expectSame(ours, theirs)
        try await seek(in: decoder, of: whole)
    }

    @Test(arguments: opus)
    func `Opus gives the samples of opusdec, also after forty seeks`(made: MadeOgg) async throws {
        let expected = try made.opusdec()
        let whole = try await decodeBytes(try await decoder(made))
        #expect(!expected.isEmpty)
        expectSame(floats(whole), expected)
        try await seek(in: try await decoder(made), of: whole)
    }

    /// After a seek the samples are those of `whole`; those of Opus as 16 bits.
    private func seek(in decoder: OggDecoder, of whole: [UInt8]) async throws {
        let format = decoder.info.format
        let frames = FrameCount(whole.count / format.bytesPerFrame)
        #expect(decoder.info.duration == format.duration(of: frames) && decoder.info.isDurationExact)
        let isExact = decoder.info.codec == "Ogg, Vorbis"
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let frame = FrameCount.random(in: 0..<frames, using: &random)
            let landing = try await decoder.seek(to: format.duration(of: frame))
            #expect(landing == SeekLanding(frame: frame, isExact: true))
            let heard = floats(try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame))
            let expected = floats(whole.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count * 4))
            #expect(heard.count == expected.count && !heard.isEmpty)
            if isExact {
                expectSame(heard, expected, "from \(frame)")
            } else {
                let worst = zip(heard, expected).map { abs($0 - $1) }.max() ?? 0
                #expect(worst <= 0.5 / 32_768, "from \(frame): off by \(worst * 32_768)")
            }
        }
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `a file that others wrote has its tags and its gain`(made: MadeOgg) async throws {
        let comments = ["--title", "Title", "--artist", "Someone", "--album", "Album"]
        let gains =
            made.codec == .vorbis
            ? ["-c", "REPLAYGAIN_TRACK_GAIN=-6.5 dB"] : ["--comment", "R128_TRACK_GAIN=-1664"]
        let tagged = MadeOgg(made.codec, comments + gains, seconds: 2)
        let info = try await decoder(tagged).info
        #expect(info.tags == TrackTags(title: "Title", artist: "Someone", album: "Album"))
        #expect(info.songTitle == "Someone - Title")
        #expect(info.loudness?.track.gain == (made.codec == .vorbis ? -6.5 : -1.5))
        #expect(info.codec == (made.codec == .vorbis ? "Ogg, Vorbis" : "Ogg, Opus"))
    }

    @Test func `the gain in the head of Opus always applies`() async throws {
        // 6.02 dB, in 1/256 dB; the checksum of the page is that of the changed head.
        let louder = MadeOgg.opus.changed("louder") { bytes in
            let page = MadeOgg.opus.pages[0]
            bytes[page.page.headByteCount + 16] = 5
            bytes[page.page.headByteCount + 17] = 6
            let sum = bytes[..<Int(page.end)].withUnsafeBytes { OggPage.checksum(of: $0) }
            bytes.replaceSubrange(22..<26, with: little(UInt64(sum), 4))
        }
        let samples = floats(try await decodeBytes(try await decoder(louder)))
        expectSame(samples, try louder.opusdec())
        #expect(samples != floats(try await decodeBytes(try await decoder(.opus))))
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `a damaged page becomes silence, and the length stays`(made: MadeOgg) async throws {
        let whole = floats(try await decodeBytes(try await decoder(made)))
        let pages = made.pages
        let page = pages[pages.count / 2]
        let damaged = made.changed("damaged") { bytes in
            for index in 0..<100 { bytes[Int(page.offset) + 300 + index] ^= 0x55 }
        }
        let decoder = try await decoder(damaged)
        let heard = floats(try await decodeBytes(decoder))
        #expect(heard.count == whole.count)
        let differing = zip(heard, whole).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        let (first, last) = try (#require(differing.first), #require(differing.last))
        let format = decoder.info.format
        // The page, and what the codec needs until it is exact again.
        let rate = format.sampleRate * format.channelCount
        let most = (made.codec == .opus ? 2.2 : 0.5) * Double(rate)
        #expect(Double(last - first) < most, "\(Double(last - first) / Double(rate)) s")
        #expect(heard[first..<last].contains(0))
        #expect(decoder.info.skippedByteCount > 0)
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `20 KB of zeros cost what they held, and a cut file plays to the cut`(made: MadeOgg) async throws {
        let whole = floats(try await decodeBytes(try await decoder(made)))
        let zeroed = made.changed("zeroed") { bytes in
            for index in bytes.count / 2..<bytes.count / 2 + 20_000 { bytes[index] = 0 }
        }
        let heard = floats(try await decodeBytes(try await decoder(zeroed)))
        #expect(heard.count == whole.count)
        expectSame(heard.suffix(40_000), whole.suffix(40_000))
        let cut = made.changed("cut") { $0.removeLast($0.count / 3) }
        let decoder = try await decoder(cut)
        let part = floats(try await decodeBytes(decoder))
        #expect(part.count > whole.count / 2 && part.count < whole.count * 3 / 4)
        expectSame(part, whole.prefix(part.count))
        #expect(decoder.info.duration == decoder.info.format.duration(of: Int64(part.count / 2)))
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `streams that follow each other all play, each with its own tags and format`(made: MadeOgg)
        async throws
    {
        let second = MadeOgg(made.codec, ["--title", "Second"], seconds: 3, seed: 7)
        let third = MadeOgg(.vorbis, ["--title", "Third"], seconds: 2, rate: 22_050, channels: 1, seed: 8)
        let chain = MadeOgg("chain", made.codec, made.bytes + second.bytes + third.bytes)
        let decoder = try await decoder(chain)
        var expected = try await decodeBytes(try await self.decoder(made))
        expected += try await decodeBytes(try await self.decoder(second))
        expectSame(try await decodeBytes(decoder), expected)
        // `decodeBytes` has ended at the change of format.
        #expect(decoder.info.tags.title == "Third" && decoder.info.format.channelCount == 1)
        expectSame(try await decodeBytes(decoder), try await decodeBytes(try await self.decoder(third)))
        let frames = decoder.info.format
        let landing = try await decoder.seek(to: .seconds(13))
        #expect(decoder.info.tags.title == "Second" && landing.isExact && frames != decoder.info.format)
        let offset = Int(landing.frame) * decoder.info.format.bytesPerFrame
        let heard = floats(try await decodeBytes(decoder, atMost: 200_000))
        let same = floats(expected.dropFirst(offset).prefix(200_000))
        #expect(zip(heard, same).allSatisfy { abs($0 - $1) <= 0.5 / 32_768 } && heard.count == same.count)
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `the title of a stream in the same format is known with its first sound`(made: MadeOgg) async throws
    {
        let second = MadeOgg(made.codec, ["--title", "Second"], seconds: 3, seed: 7)
        let decoder = try await decoder(MadeOgg("titles", made.codec, made.bytes + second.bytes))
        let first = try await decodeBytes(try await self.decoder(made))
        _ = try await decodeBytes(decoder, atMost: first.count)
        #expect(decoder.info.tags.title != "Second")
        _ = try await decodeBytes(decoder, atMost: 40_000)
        #expect(
            decoder.info.tags.title == "Second" && decoder.info.songTitle?.string.contains("Second") == true
        )
    }

    @Test func `other codecs in Ogg are refused by their name`() async throws {
        for (arguments, name) in [
            (["-c:a", "libspeex", "-ar", "16000"], "Speex"),
            (["-c:v", "libtheora", "-f", "ogg"], "Theora"),
        ] {
            let input = name == "Speex" ? [] : ["-f", "lavfi", "-i", "testsrc=d=1", "-map", "1:v"]
            let file = Fixture.foreign(name, "ogg", input + arguments)
            guard !file.bytes.isEmpty else { continue }
            let decoder = OggDecoder(ProbedStream(source: MemorySource(file.bytes), subject: "song"))
            let error = await #expect(throws: MediaError.self) { try await decoder.open() }
            #expect(error?.code == .notAudio)
            #expect(error?.cause.string.hasPrefix("Ogg with \(name)") == true)
        }
    }

    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `the first sound takes one request, and the length one more at the end, later`(made: MadeOgg)
        async throws
    {
        let long = MadeOgg(made.codec, ["--title", "Long"], seconds: 30)
        let source = MemorySource(long.bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        _ = try await decodeBytes(decoder, atMost: 2 * 4 * 24_000)
        #expect(source.requests == [0..<65_536])
        #expect(!decoder.info.isDurationExact && decoder.info.tags.title == "Long")
        let estimate = try #require(decoder.info.duration)
        #expect(abs(estimate.seconds - 30) < 15)
        #expect(try await !decoder.scanStored() && source.requests.count == 1)
        let length = Int64(long.bytes.count)
        #expect(source.prefetched == [length - 65_536..<length])
        source.store(length - 65_536..<length)
        _ = try await decoder.scanStored()
        #expect(decoder.info.duration == .seconds(30) && decoder.info.isDurationExact)
    }
}
