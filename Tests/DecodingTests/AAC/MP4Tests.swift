import Media
import TestSupport
import Testing

@testable import Decoding

/// AAC in MP4 files plays as `faad` decodes its packets, trimmed as the file states.
@Suite struct MP4Tests {
    private static let front = ["-movflags", "+faststart"]
    static let behindFile = MadeAAC("m4a", seconds: 6)
    static let frontFile = MadeAAC("m4a", front, seconds: 12)
    static let mono = MadeAAC("m4a", front, seconds: 3, channels: 1, bitRate: 48)
    static let surround = MadeAAC("m4a", front, seconds: 3, rate: 48_000, channels: 6, bitRate: 320)
    static let low = MadeAAC("m4a", front, seconds: 3, rate: 22_050, bitRate: 48)

    private func decoder(_ source: MemorySource) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: source, subject: "song.m4a"))
    }

    private func samples(of bytes: [UInt8]) async throws -> [Float] {
        floats(try await decodeBytes(decoder(MemorySource(bytes, isStored: true))))
    }

    @Test(arguments: [behindFile, mono])
    func `a file gives the samples of faad, trimmed to those that were encoded`(made: MadeAAC) async throws {
        let heard = try await samples(of: made.bytes)
        let expected = try made.faad()
        if made.channels == 2 {
            expectSame(heard, expected.prefix(made.frames * 2))
        } else {
            expectSame(heard, (0..<made.frames).map { expected[$0 * 2] })
        }
    }

    @Test(arguments: [behindFile, surround, low])
    func `a file gives the samples of ffmpeg within a step of 16 bits, also after forty seeks`(made: MadeAAC)
        async throws
    {
        let decoder = decoder(MemorySource(made.bytes, isStored: true))
        let whole = try await decodeBytes(decoder)
        let heard = floats(whole)
        let expected = try made.ffmpeg()
        #expect(heard.count == made.frames * made.channels && expected.count >= heard.count)
        var worst: Float = 0
        for index in heard.indices { worst = max(worst, abs(heard[index] - expected[index])) }
        #expect(worst <= 1 / 32_768, "off by \(worst * 32_768)")
        let format = decoder.info.format
        #expect(decoder.info.duration == format.duration(of: FrameCount(made.frames)))
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let frame = FrameCount.random(in: 0..<FrameCount(made.frames), using: &random)
            let landing = try await decoder.seek(to: format.duration(of: frame))
            #expect(landing == SeekLanding(frame: frame, isExact: true))
            let part = try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame)
            expectSame(
                part,
                whole[(Int(frame) * format.bytesPerFrame)...].prefix(part.count),
                "from \(frame)"
            )
        }
    }

    @Test func `the first sound takes one request with the tables in front, and two with them behind`()
        async throws
    {
        for (arguments, requests) in [(Self.front, 1), ([], 2)] {
            let made = MadeAAC("m4a", arguments, seconds: 60)
            let source = MemorySource(made.bytes)
            let decoder = decoder(source)
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(source.requests.count == requests)
            #expect(decoder.info.duration == .seconds(60) && decoder.info.isDurationExact)
            // A far seek takes one more.
            let landing = try await decoder.seek(to: .seconds(45))
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(source.requests.count == requests + 1 && landing.isExact)
        }
    }

    @Test func `offsets of 64 bits are read`() async throws {
        let short = Self.behindFile.bytes
        let place = try #require(short.indices.first { short[$0...].starts(with: "stco".utf8) })
        func number(_ bytes: [UInt8], at index: Int) -> Int {
            Int(bytes[index..<index + 4].bigEndianNumber)
        }
        let added = 4 * number(short, at: place + 8)
        #expect(added > 0)
        var long = Array(short[..<(place + 12)])
        for index in stride(from: place + 12, to: place + 12 + added, by: 4) {
            long += [0, 0, 0, 0]
            long += short[index..<index + 4]
        }
        long += short[(place + 12 + added)...]
        long.replaceSubrange(place..<place + 4, with: "co64".utf8)
        // The table and the boxes around it are longer; the music lies in front of them.
        for name in ["moov", "trak", "mdia", "minf", "stbl", "co64"] {
            let box = try #require(long[...(place + 3)].indices.first { long[$0...].starts(with: name.utf8) })
            let size = number(long, at: box - 4) + added
            for byte in 0..<4 { long[box - 4 + byte] = UInt8(truncatingIfNeeded: size >> (24 - 8 * byte)) }
        }
        expectSame(try await samples(of: long), try await samples(of: short))
    }

    @Test func `tags are read, and the cover is not`() async throws {
        let words = [
            "title=Title", "artist=Someone", "album=Album", "album_artist=All", "track=3/12", "disc=1/2",
            "date=1999",
            "genre=Jazz", "compilation=1",
        ]
        let made = MadeAAC("m4a", Self.front + words.flatMap { ["-metadata", $0] }, seconds: 1)
        let decoder = decoder(MemorySource(made.bytes))
        try await decoder.open()
        var tags = TrackTags(title: "Title", artist: "Someone", album: "Album", year: "1999", number: "3/12")
        tags.albumArtist = "All"
        tags.disc = "1/2"
        tags.genre = "Jazz"
        tags.compilation = "1"
        #expect(decoder.info.tags == tags)
        var found = MP4Tags()
        found.noteCover(in: 100..<5_000)
        #expect(found.tags.cover == 116..<5_000)
        #expect(decoder.info.codec == "M4A, AAC LC")
    }

    @Test func `iTunSMPB trims a file without an edit list`() async throws {
        let whole = try await samples(of: Self.frontFile.bytes)
        let name = Array("edts".utf8)
        let bytes = Self.frontFile.bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        let bare = Self.frontFile.changed("no edit list") {
            $0.replaceSubrange(place..<place + 4, with: "free".utf8)
        }
        let heard = try await samples(of: bare.bytes)
        // Without both, the music begins with the second packet, and ends where the packets do.
        #expect(heard.starts(with: whole.prefix(200_000)))
        var tags = MP4Tags()
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(8 + content.count)] + Array(name.utf8) + content
        }
        let value = " 00000000 00000840 000001CA 0000000000000400 00000000"
        tags.parse(
            "----",
            box("mean", [0, 0, 0, 0] + Array("com.apple.iTunes".utf8))
                + box("name", [0, 0, 0, 0] + Array("iTunSMPB".utf8))
                + box("data", [0, 0, 0, 1, 0, 0, 0, 0] + Array(value.utf8))
        )
        #expect(tags.gapless == 2_112..<3_136)
    }

    @Test func `100 damaged bytes cost their packets, and a cut file plays to the cut`() async throws {
        let made = Self.frontFile
        let whole = try await samples(of: made.bytes)
        let middle = made.bytes.count / 2
        let damaged = made.changed("damaged") { bytes in
            for place in middle..<middle + 100 { bytes[place] ^= 0x55 }
        }
        let heard = try await samples(of: damaged.bytes)
        #expect(heard.count == whole.count)
        let differing = heard.indices.filter { heard[$0] != whole[$0] }
        // At most two packets, and the overlap with the next one.
        #expect(!differing.isEmpty && differing[differing.count - 1] - differing[0] < 3 * 2_048)
        let cut = try await samples(of: Array(made.bytes[..<middle]))
        #expect(cut.count > whole.count / 4 && cut.count < whole.count * 3 / 4)
        #expect(whole.starts(with: cut))
        // With the tables behind, nothing of a cut file can be played.
        let error = await #expect(throws: MediaError.self) {
            _ = try await samples(of: Array(Self.behindFile.bytes[..<40_000]))
        }
        #expect(error?.code == .notAudio)
    }

    @Test func `what is not played is refused by its name`() async throws {
        let flac = Fixture.foreign("FLAC", "mp4", ["-c:a", "flac", "-strict", "experimental"])
        let error = await #expect(throws: MediaError.self) {
            try await decoder(MemorySource(flac.bytes)).open()
        }
        #expect(error?.code == .notAudio)
        #expect(error?.cause == "M4A with FLAC – Reprise plays M4A with AAC or ALAC only")
    }

    @Test func `a changed byte of the tables is no crash, and costs neither memory nor many reads`()
        async throws
    {
        let made = MadeAAC("m4a", Self.front, seconds: 1)
        var random = SeededGenerator(seed: 11)
        let end = 2_000
        for _ in 0..<300 {
            var bytes = made.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let source = MemorySource(bytes)
            _ = try? await decodeBytes(decoder(source), atMost: 60_000)
            #expect(source.requests.count < 64)
        }
    }
}
