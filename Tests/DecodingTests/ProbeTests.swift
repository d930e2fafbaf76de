import Decoding
import Media
import TestSupport
import Testing

@Suite struct ProbeTests {
    private static func decoder(_ source: MemorySource, of table: DecoderTable = .all) async throws
        -> any AudioDecoder
    {
        let decoder = try await table.decoder(for: source, at: .file("/music/song"))
        try await decoder.open()
        return decoder
    }

    /// Files that ffmpeg makes, and how their kind is called.
    private static let foreign: [(fixture: Fixture, name: String)] = [
        (.foreign("WavPack", "wv"), "WavPack"), (.foreign("WMA", "wma", ["-c:a", "wmav2"]), "ASF/WMA"),
        (.foreign("Matroska", "mka", ["-c:a", "flac"]), "Matroska/WebM"),
        (.foreign("CAF", "caf"), "CAF"), (.foreign("AU", "au"), "AU"),
        (.foreign("MP2 in an MPEG stream", "mpg", ["-c:a", "mp2", "-b:a", "64k"]), "MPEG video"),
    ]

    @Test func `the kinds that are played are those with a decoder`() {
        #expect(Set(DecoderTable.all.factories.keys) == Set(AudioKind.played))
    }

    @Test(arguments: foreign)
    func `what is not played is refused by its name, with a tag in front too`(
        fixture: Fixture,
        name: String
    )
        async throws
    {
        #expect(!fixture.bytes.isEmpty, "ffmpeg can't make \(fixture)")
        for tagLength in [0, 3_000, 100_000] {
            let source = MemorySource((tagLength > 0 ? tag(of: tagLength) : []) + fixture.bytes)
            let error = await #expect(throws: MediaError.self) { try await Self.decoder(source) }
            #expect(error?.code == .notAudio)
            #expect(error?.cause == AudioKind.refusal(of: SafeText("looks like \(name)")))
            #expect(source.reads.count <= (tagLength > 65_536 ? 2 : 1))
            // A decoder that is made without the probe refuses it in the same words.
            let direct = await #expect(throws: MediaError.self) { try await MPEGDecoder(source.bytes).open() }
            #expect(direct?.cause == error?.cause)
        }
    }

    @Test func `a radio stream of AAC that is entered in mid-frame is recognized`() async throws {
        let stream = Array(Fixture.foreign("ADTS", "aac", ["-c:a", "aac"]).bytes.dropFirst(10_007))
        #expect(try await Self.decoder(MemorySource(stream)).info.codec == "ADTS, AAC LC")
    }

    @Test(arguments: ["mp3", "mp2"])
    func `MPEG audio in a WAV file plays`(codec: String) async throws {
        let arguments = ["-c:a", codec == "mp3" ? "libmp3lame" : "mp2"]
        let wave = Fixture.foreign("\(codec) in WAV", "wav", arguments)
        #expect(AudioKind.byMagicNumber(wave.bytes) == .wave)
        let heard = try await decodeRest(try await Self.decoder(MemorySource(wave.bytes)))
        expectSame(heard, try wave.reference())
    }

    /// Samples of every kind, with all values, quiet ones whose bytes look like headers of frames, and
    /// silence.
    @Test(arguments: MadeWave.Samples.allCases, [1.0, 1e-4, 0])
    func `a WAV file is never taken for MPEG audio`(samples: MadeWave.Samples, loudness: Double) async throws
    {
        let wave = MadeWave(samples: samples, frames: 40_000, loudness: loudness)
        let decoder = try await Self.decoder(MemorySource(wave.bytes))
        #expect(decoder is PCMDecoder && decoder.info.duration == .seconds(5))
        let error = await #expect(throws: MediaError.self) { try await MPEGDecoder(wave.bytes).open() }
        #expect(error?.code == .notAudio)
    }

    @Test(
        arguments: [
            "sine=frequency=1000:duration=5", "sine=frequency=55:beep_factor=4:duration=5",
            "flite=text=She sells sea shells by the sea shore and he sings of them sixty-six times",
        ],
        ["pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_f32le"]
    )
    func `a WAV file of a tone or of speech is never taken for MPEG audio`(sound: String, codec: String)
        async throws
    {
        let words = ["-filter_complex", sound + "[sound]", "-map", "[sound]", "-c:a", codec]
        let wave = Fixture.foreign(sound, "wav", words)
        let decoder = try await Self.decoder(MemorySource(wave.bytes))
        #expect(decoder is PCMDecoder && (decoder.info.duration ?? .zero) >= .seconds(2))
        // Its samples alone are of no known kind either.
        for bytes in [wave.bytes, Array(wave.bytes.dropFirst(1_000))] {
            let error = await #expect(throws: MediaError.self) { try await MPEGDecoder(bytes).open() }
            #expect(error?.code == .notAudio)
        }
    }

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `noise without a header is never played`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        // Bytes of any value, and the noise of quiet 16-bit PCM, whose samples look like free-format headers.
        let bytes =
            seed % 2 == 0
            ? (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            : (0..<100_000).flatMap { _ in
                let sample = Int16.random(
                    in: (seed % 4 == 1 ? -1 : -2)...(seed % 3 == 1 ? 0 : 1),
                    using: &random
                )
                return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            }
        for length in [bytes.count, 60_000, 2_000] {
            let source = MemorySource(Array(bytes.prefix(length)))
            let error = await #expect(throws: MediaError.self) { try await Self.decoder(source) }
            #expect(error?.cause == AudioKind.refusal(of: "not a known audio format"))
        }
    }

    @Test(arguments: [OddStreams.stereo, OddStreams.variable, OddStreams.low, OddStreams.layerII])
    func `four frames in a row make a stream, three do not`(fixture: Fixture) {
        let starts = OddStreams.frameStarts(fixture.bytes)
        for (count, isStream) in [(2, false), (3, false), (4, true)] {
            // The last frame needs only its header.
            let frames = fixture.bytes[starts[40]..<starts[40 + count - 1] + FrameHeader.byteCount]
            let bytes = [UInt8](repeating: 7, count: 500) + frames + [UInt8](repeating: 7, count: 9_000)
            #expect(
                (StreamStart.kind(of: bytes, isWhole: false) == .mpeg) == isStream,
                "\(count) of \(fixture)"
            )
            #expect(
                (StreamStart.kind(of: bytes, isWhole: true) == .mpeg) == isStream,
                "\(count) of \(fixture)"
            )
        }
    }

    @Test func `frames of several kinds in turn are no stream`() {
        let parts = [OddStreams.stereo, OddStreams.high, OddStreams.low, OddStreams.layerII]
        let mixed = (0..<40).flatMap { number -> ArraySlice<UInt8> in
            let bytes = parts[number % 4].bytes
            let starts = OddStreams.frameStarts(bytes)
            return bytes[starts[number]..<starts[number + 1]]
        }
        #expect(StreamStart.kind(of: mixed, isWhole: true) == nil)
    }

    @Test func `up to 64 KiB of other bytes may precede the music`() {
        for (count, isStream) in [(65_535, true), (65_536, false)] {
            let bytes = [UInt8](repeating: 0, count: count) + OddStreams.stereo.bytes
            #expect((StreamStart.kind(of: bytes, isWhole: false) == .mpeg) == isStream)
        }
    }

    @Test(arguments: [1, 2, 3, 5], [OddStreams.stereo, .low, OddStreams.layerII, OddStreams.layerI])
    func `a file of a few frames plays, also with tags at both ends`(count: Int, fixture: Fixture)
        async throws
    {
        let starts = OddStreams.frameStarts(fixture.bytes)
        let frames = Array(fixture.bytes[starts[0]..<starts[count]])
        let expected = try Fixture(name: "frames", bytes: frames).reference()
        // Of one or two frames the reference decoder may play nothing.
        #expect(!expected.isEmpty || count < 3)
        for bytes in [frames, tag(of: 3_000) + frames + id3v1, frames + ape(500)] {
            let heard = try await decodeRest(try await Self.decoder(MemorySource(bytes)))
            expectSame(heard, expected, "\(count) frames of \(fixture)")
        }
    }

    private static let odd: [Fixture] = [
        Fixture.cbr.changed("after 100 KB of ID3v2") { $0 = tag(of: 100_000) + $0 },
        Fixture.vbr.changed("after two tags") { $0 = tag(of: 70_000) + tag(of: 500) + $0 },
        OddStreams.free, OddStreams.layerI, OddStreams.layerII, OddStreams.lowest,
        Fixture.vbr.changed("entered in mid-frame") { $0.removeFirst(20_011) },
        OddStreams.low.changed("entered in mid-frame") { $0.removeFirst(20_011) },
        OddStreams.joined([OddStreams.stereo, OddStreams.mono], frames: 8),
    ]

    @Test(arguments: odd)
    func `odd MP3 files play as the reference decoder plays them`(fixture: Fixture) async throws {
        let expected = try fixture.reference()
        #expect(!expected.isEmpty)
        expectSame(try await decodeRest(try await Self.decoder(MemorySource(fixture.bytes))), expected)
    }

    @Test(arguments: [500, 90_000])
    func `an APE tag in front is skipped, and its gain counts`(length: Int) async throws {
        let plain = try await decodeRest(MPEGDecoder(Fixture.cbr.bytes))
        let items = [("REPLAYGAIN_TRACK_GAIN", "-6.5 dB"), ("Cover", String(repeating: "x", count: length))]
        let source = MemorySource(ape(items: items.map { (key: $0.0, value: $0.1) }) + Fixture.cbr.bytes)
        let decoder = try await Self.decoder(source)
        expectSame(try await decodeRest(decoder), plain)
        #expect(decoder.info.loudness?.track.gain == -6.5)
    }

    @Test func `a resource gets the decoder of its kind and the bytes that were read`() async throws {
        let table = DecoderTable([.mpeg: { MPEGDecoder($0) }, .flac: { ToneDecoder($0) }])
        let location = ResourceLocation.file("/music/song")
        let tone = MemorySource(Array("fLaC".utf8) + [UInt8](repeating: 0, count: 60))
        #expect(try await table.decoder(for: tone, at: location) is ToneDecoder)
        let song = MemorySource(Fixture.cbr.bytes)
        let decoder = try await table.decoder(for: song, at: location)
        _ = try await decodeRest(decoder, limit: 2_304)
        #expect(decoder is MPEGDecoder)
        #expect(song.reads.filter { $0.offset == 0 }.count == 1)
    }
}
