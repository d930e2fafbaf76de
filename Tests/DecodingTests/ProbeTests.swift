import Decoding
import Media
import Testing

@Suite struct ProbeTests {
    @Test(
        arguments: [
            ("fLaC", nil, "a", .flac), ("OggS\0", "audio/mpeg", "a.mp3", .ogg),
            ("RIFF\0\0\0\0WAVE", nil, "a.mp3", .wave), ("RF64\0\0\0\0WAVE", nil, "a", .wave),
            ("RIFF\0\0\0\0RMP3", nil, "a", .mpeg), ("FORM\0\0\0\0AIFC", nil, "a", .aiff),
            ("\0\0\0\u{20}ftypM4A ", "audio/mpeg", "a", .mp4), ("ID3\u{4}", "audio/flac", "a.flac", .mpeg),
            ("", "audio/flac; charset=x", "a.mp3", .flac), ("????", "Audio/X-M4A", "a", .mp4),
            ("????", "text/plain", "song.OPUS", .ogg), ("????", nil, "song", .mpeg), ("", nil, "", .mpeg),
        ] as [(String, String?, String, AudioKind)]
    )
    func `the magic number decides, then type and name, and the rest is taken for MPEG audio`(
        head: String,
        contentType: String?,
        name: String,
        kind: AudioKind
    ) {
        #expect(DecoderTable.kind(head: Array(head.utf8), contentType: contentType, name: name) == kind)
    }

    @Test func `a frame of MPEG audio is recognized despite another type and name`() {
        let head = Array(Fixture.bareCBR.bytes.prefix(AudioKind.headByteCount))
        #expect(DecoderTable.kind(head: head, contentType: "audio/flac", name: "song.flac") == .mpeg)
    }

    @Test(arguments: [.flac, .ogg, .wave, .aiff, .mp4] as [AudioKind])
    func `a kind without a decoder is refused, and the error names it`(kind: AudioKind) async throws {
        let heads: [AudioKind: String] = [
            .flac: "fLaC", .ogg: "OggS", .wave: "RIFF\0\0\0\0WAVE", .aiff: "FORM\0\0\0\0AIFF",
            .mp4: "\0\0\0\u{20}ftypM4A ",
        ]
        let bytes = Array((heads[kind] ?? "").utf8) + [UInt8](repeating: 0, count: 90_000)
        let error = await #expect(throws: MediaError.self) { try await MPEGDecoder(bytes).open() }
        #expect(error?.code == .notAudio)
        #expect(error?.cause == SafeText("Not MP3 (looks like \(kind.name)) – Reprise plays MP3 only"))
    }

    @Test func `a resource gets the decoder of its kind and the bytes that were read`() async throws {
        let table = DecoderTable(mpeg: { MPEGDecoder($0) }, others: [.flac: { ToneDecoder($0) }])
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
