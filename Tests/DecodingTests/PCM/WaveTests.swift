import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct WaveTests {
    private static func short(_ change: (inout MadeWave) -> Void = { _ in }) -> MadeWave {
        var wave = MadeWave()
        wave.frames = 3_001
        change(&wave)
        return wave
    }

    @Test(arguments: MadeWave.Samples.allCases, [1, 2, 6])
    func `samples of every kind play exactly`(samples: MadeWave.Samples, channels: Int) async throws {
        let wave = Self.short {
            $0.samples = samples
            $0.channels = channels
        }
        let decoder = try await openedPCM(wave.bytes)
        expectSame(try await decodeBytes(decoder), wave.pcm)
        let format = decoder.info.format
        #expect(
            format.sample
                == (samples == .u8 || samples == .s16
                    ? .s16 : wave.samples.byteCount <= 4 && samples != .f32 ? .s32 : .f32)
        )
        #expect(format.channels == ChannelPosition.customary(channels) && format.sampleRate == 8_000)
        #expect(decoder.info.duration == format.duration(of: 3_001) && decoder.info.isDurationExact)
        #expect(decoder.info.bytesPerSecond == Double(8_000 * channels * wave.samples.byteCount))
    }

    @Test func `an extensible header states the order of the channels`() async throws {
        for (mask, count, channels) in [
            (0x3, 2, [.frontLeft, .frontRight]),
            (0x60F, 6, ChannelPosition.channels(ofMask: 0x60F, count: 6)),
            (0x33, 4, [.frontLeft, .frontRight, .rearLeft, .rearRight]), (0, 8, ChannelPosition.customary(8)),
        ] as [(UInt32, Int, [ChannelPosition])] {
            let wave = Self.short {
                $0.header = .extensible(mask: mask)
                $0.channels = count
            }
            let decoder = try await openedPCM(wave.bytes)
            #expect(decoder.info.format.channels == channels)
            expectSame(try await decodeBytes(decoder), wave.pcm)
        }
    }

    @Test(arguments: [0, .max, 0x7FFF_FFF0] as [UInt32])
    func `samples whose size was never written last until the end of the file`(stated: UInt32) async throws {
        let wave = Self.short { $0.statedSize = stated }
        let decoder = try await openedPCM(wave.bytes)
        #expect(decoder.info.duration == decoder.info.format.duration(of: 3_001))
        expectSame(try await decodeBytes(decoder), wave.pcm)
    }

    @Test func `a file that was cut plays to the cut`() async throws {
        let wave = Self.short()
        let decoder = try await openedPCM(wave.bytes.dropLast(1_003))
        let whole = wave.pcm.prefix(wave.pcm.count - 1_004)
        #expect(decoder.info.duration == decoder.info.format.duration(of: Int64(whole.count / 4)))
        expectSame(try await decodeBytes(decoder), whole)
    }

    @Test(arguments: [0, .max, nil] as [UInt32?])
    func `a recording in progress plays on, and lasts as long as it is`(stated: UInt32?) async throws {
        let wave = Self.short { $0.statedSize = stated }
        let file = wave.bytes
        let source = MemorySource(file)
        let head = file.count - wave.pcm.count
        source.setLength(head + 1_000 * 4)
        let decoder = PCMDecoder(source)
        expectSame(try await decodeBytes(decoder, atMost: 2_000), wave.pcm.prefix(2_000))
        let format = decoder.info.format
        #expect(decoder.info.duration == format.duration(of: 1_000))
        source.setLength(head + 2_000 * 4)
        _ = try await decoder.scanStored()
        #expect(decoder.info.duration == format.duration(of: 2_000))
        #expect(try await decoder.seek(to: format.duration(of: 1_500)).frame == 1_500)
        source.setLength(file.count)
        expectSame(try await decodeBytes(decoder), wave.pcm.dropFirst(1_500 * 4))
        #expect(decoder.info.duration == format.duration(of: 3_001))
    }

    /// Many bytes of samples look like the headers of MPEG frames.
    @Test(
        arguments: ["noise", "tone", "silence", "speech"],
        ["pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_f32le"]
    )
    func `no WAV is taken for MPEG`(sound: String, codec: String) async throws {
        let sources = [
            "noise": "anoisesrc=d=6:c=white:seed=4", "tone": "sine=f=440:d=6", "silence": "anullsrc=d=6",
            "speech": "flite=text=The music in this file is a voice that reads one sentence aloud.",
        ]
        let folder = try TemporaryFolder()
        let path = folder.path("song.wav")
        try run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", sources[sound] ?? "", "-t", "6", "-c:a", codec, path]
        )
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try #require(file.count > 10_000)
        // Bytes in front hide the magic number.
        for bytes in [file, id3Tag(version: 4, id3Frame("TIT2", [3] + Array("Song".utf8))) + file] {
            var start = StreamStart(of: MemorySource(bytes))
            try await start.skipTags(of: "song")
            #expect(try await start.kind() == .wave)
        }
    }

    @Test func `RF64 and sizes without their upper bits name the samples of large files`() {
        let samples = Int64(5 << 30)
        for (stated, length) in [(UInt32.max, samples + 100), (UInt32(1 << 30), samples + 44)] {
            let isRF64 = stated == .max
            let sizes = little(0, 8) + little(UInt64(samples), 8) + little(0, 12)
            let wave = Self.short {
                $0.frames = 0
                $0.statedSize = stated
                $0.mark = isRF64 ? "RF64" : "RIFF"
                $0.before = isRF64 ? chunk("ds64", sizes) : []
            }
            let file = wave.bytes
            var head = PCMHead(length: length)
            var walk = ChunkWalk(at: 0, contents: PCMHead.contents)
            while !head.isComplete, let range = walk.wanted {
                if let chunk = walk.took(file[Int(range.lowerBound)..<Int(range.upperBound)]) {
                    try? head.receive(chunk)
                }
            }
            #expect(head.music(inLength: length)?.count == Int(samples))
            #expect(head.music(inLength: length).map { Int($0.lowerBound) } == file.count)
        }
    }

    @Test func `tags are read in front of the samples, and after them once they are stored`() async throws {
        let information = informationList([
            ("INAM", "Title"), ("IART", "Artist"), ("IPRD", "Album"), ("ICRD", "1999"), ("ITRK", "3"),
            ("IGNR", "Jazz"), ("ISFT", "x"),
        ])
        var expected = TrackTags(title: "Title", artist: "Artist", album: "Album", year: "1999", number: "3")
        expected.genre = "Jazz"
        #expect(try await openedPCM(Self.short { $0.before = information }.bytes).info.tags == expected)
        let behind = MadeWave(after: chunk("odd ", [1]) + information).bytes
        #expect(try await openedPCM(behind, isStored: true).info.tags == expected)
        let source = MemorySource(behind)
        let decoder = PCMDecoder(source)
        try await decoder.open()
        #expect(try await !decoder.scanStored() && decoder.info.tags == TrackTags())
        source.store(300_000..<Int64(behind.count))
        while try await decoder.scanStored() { #expect(decoder.info.tags == TrackTags()) }
        #expect(decoder.info.tags == expected)
        #expect(source.requests == [0..<65_536])
    }

    @Test func `ID3 in a chunk takes precedence, and brings its gain`() async throws {
        let frames =
            id3Frame("TIT2", [3] + Array("Better".utf8))
            + id3Frame("TXXX", [3] + Array("replaygain_track_gain\0-6.5 dB".utf8))
        let wave = Self.short {
            $0.before = informationList([("INAM", "Bett"), ("IART", "Künstler")])
            $0.after = chunk("id3 ", id3Tag(version: 4, frames))
        }
        let decoder = try await openedPCM(wave.bytes, isStored: true)
        #expect(decoder.info.tags.title == "Better" && decoder.info.tags.artist == "Künstler")
        #expect(decoder.info.loudness?.track.gain == -6.5)
        expectSame(try await decodeBytes(decoder), wave.pcm)
    }

    @Test func `a picture in front of the samples costs one jump, and ID3 before the file none`() async throws
    {
        let picture = chunk("id3 ", tag(of: 600_000))
        let wave = MadeWave(before: picture)
        let source = MemorySource(wave.bytes)
        let decoder = PCMDecoder(source)
        _ = try await decodeBytes(decoder, atMost: 40_000)
        #expect(source.requests.count == 2 && decoder.info.tags.title == "Title")
        let tagged = tag(of: 3_000) + Self.short().bytes
        let second = try await openedPCM(tagged)
        #expect(second.info.tags.title == "Title" && second.info.audioStart == 3_044)
        expectSame(try await decodeBytes(second), Self.short().pcm)
    }

    @Test(arguments: MadeWave.Samples.allCases)
    func `forty seeks land exactly, each by one read of what follows`(samples: MadeWave.Samples) async throws
    {
        let wave = MadeWave(samples: samples, seed: 9)
        let pcm = wave.pcm
        let source = MemorySource(wave.bytes, isStored: true)
        let decoder = PCMDecoder(source)
        try await decoder.open()
        let format = decoder.info.format
        var random = SeededGenerator(seed: 4)
        for _ in 0..<40 {
            let time = Duration.milliseconds(Int.random(in: 0..<12_000, using: &random))
            let landing = try await decoder.seek(to: time)
            #expect(landing == SeekLanding(frame: format.frames(in: time), isExact: true))
            let before = source.reads.count
            let rest = pcm.dropFirst(Int(landing.frame) * format.bytesPerFrame)
            let found = try await decodeBytes(decoder, atMost: 9_000)
            expectSame(found, rest.prefix(9_000))
            #expect(source.reads.count <= before + 1)
        }
    }

    @Test func `a seek into a far part needs one request there`() async throws {
        let wave = MadeWave(frames: 8_000 * 60)
        let source = MemorySource(wave.bytes)
        let decoder = PCMDecoder(source)
        try await decoder.open()
        #expect(!decoder.isStored(at: .seconds(50)) && decoder.isStored(at: .zero))
        _ = try await decoder.seek(to: .seconds(50))
        _ = try await decodeBytes(decoder, atMost: 32_000)
        #expect(source.requests.map(\.lowerBound) == [0, 44 + 50 * 32_000])
        #expect(decoder.isStored(at: .seconds(50)))
    }

    @Test(
        arguments: [
            (0x11, "WAV with IMA ADPCM – Reprise plays WAV with PCM or MP3 only"),
            (0x06, "WAV with A-law – Reprise plays WAV with PCM or MP3 only"),
            (0x1234, "WAV with codec 0x1234 – Reprise plays WAV with PCM or MP3 only"),
        ] as [(Int, SafeText)]
    )
    func `other codecs are refused by name`(codec: Int, words: SafeText) async {
        var bytes = Self.short().bytes
        bytes.replaceSubrange(20..<22, with: little(UInt64(codec), 2))
        #expect(await refusalOfPCM(bytes) == words)
    }

    @Test func `impossible headers are refused, and so is a file without sound`() async {
        func with(_ value: UInt64, at index: Int, _ count: Int) -> [UInt8] {
            var bytes = Self.short().bytes
            bytes.replaceSubrange(index..<index + count, with: little(value, count))
            return bytes
        }
        #expect(
            await refusalOfPCM(with(12, at: 22, 2))
                == "WAV with 12 channels – Reprise plays 1 to 8 channels only"
        )
        #expect(
            await refusalOfPCM(with(0, at: 22, 2))
                == "WAV with 0 channels – Reprise plays 1 to 8 channels only"
        )
        #expect(
            await refusalOfPCM(with(3, at: 24, 4)) == "WAV with 3 Hz – Reprise plays 1,000 to 768,000 Hz only"
        )
        #expect(
            await refusalOfPCM(with(64 << 16 | 16, at: 32, 4))
                == "WAV with samples of 64 bits – Reprise plays 8 to 32 bits only"
        )
        for bytes in [Array(Self.short().bytes.prefix(40)), Array("RIFF----WAVE".utf8)] {
            #expect(await refusalOfPCM(bytes) == "No sound in it (damaged or cut short)")
        }
        let empty = Self.short { $0.frames = 0 }.bytes
        let error = await #expect(throws: MediaError.self) { try await openedPCM(empty) }
        #expect(error?.code == .emptyResource)
    }

    @Test func `samples that are not numbers are silent`() async throws {
        var wave = Self.short { $0.samples = .f32 }.bytes
        wave.replaceSubrange(
            44..<60,
            with: [Float.nan, .infinity, -.infinity, 0.5].flatMap { little(UInt64($0.bitPattern), 4) }
        )
        let found = try await decodeBytes(openedPCM(wave), atMost: 16)
        #expect(found == [0, 0, 0, 0.5 as Float].flatMap { little(UInt64($0.bitPattern), 4) })
    }
}

extension PCMDecoder {
    convenience init(_ source: MemorySource) { self.init(ProbedStream(source: source, subject: "song.wav")) }
}
