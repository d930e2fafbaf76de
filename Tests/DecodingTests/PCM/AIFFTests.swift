import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct AIFFTests {
    private static func made(
        _ samples: MadeWave.Samples = .s16,
        _ codec: String? = nil,
        channels: Int = 2,
        rate: Int = 44_100,
        _ change: (inout MadeAIFF) -> Void = { _ in }
    ) -> MadeAIFF {
        var made = MadeAIFF(
            MadeWave(samples: samples, channels: channels, rate: rate, frames: 3_001),
            codec: codec
        )
        change(&made)
        return made
    }

    static let files = [
        made(.u8), made(.s16), made(.s24), made(.s32), made(.s24, channels: 6, rate: 192_000),
        made(.u8, "NONE", channels: 1), made(.s16, "twos"), made(.u8, "sowt"), made(.s16, "sowt"),
        made(.s24, "sowt"),
        made(.u8, "raw "), made(.s24, "in24"), made(.s32, "in32"), made(.f32, "fl32"), made(.f32, "FL32"),
        made(.f64, "fl64", rate: 8_000), made(.s16, rate: 11_025),
    ]

    @Test(arguments: files)
    func `samples of every kind play exactly, also after a seek`(file: MadeAIFF) async throws {
        let decoder = try await openedPCM(file.bytes)
        expectSame(try await decodeBytes(decoder), file.pcm)
        let format = decoder.info.format
        #expect(format.sampleRate == file.wave.rate && format.channelCount == file.wave.channels)
        #expect(decoder.info.duration == format.duration(of: 3_001))
        #expect(decoder.info.codec.string.hasPrefix("AIFF, "))
        let landing = try await decoder.seek(to: .milliseconds(12))
        #expect(landing.isExact)
        expectSame(
            try await decodeBytes(decoder),
            file.pcm.dropFirst(Int(landing.frame) * format.bytesPerFrame)
        )
    }

    @Test func `samples may be aligned, of an unknown number, or in front of their description`() async throws
    {
        let aligned = Self.made { $0.offset = 10 }
        let unfinished = Self.made(.s24) { $0.isUnfinished = true }
        var inFront = MadeAIFF(MadeWave())
        inFront.isDescribedLast = true
        for file in [aligned, unfinished, inFront] {
            let source = MemorySource(file.bytes)
            let decoder = PCMDecoder(source)
            expectSame(try await decodeBytes(decoder, atMost: 20_000), file.pcm.prefix(20_000))
            #expect(decoder.info.duration == decoder.info.format.duration(of: Int64(file.wave.frames)))
            // A description after the samples costs one jump.
            #expect(source.requests.count == (file.isDescribedLast ? 2 : 1))
        }
    }

    @Test func `chunks with names and ID3 are its tags`() async throws {
        let texts = iffChunk("NAME", Array("Title".utf8)) + iffChunk("AUTH", Array("Artist".utf8))
        let id3 = iffChunk("ID3 ", id3Tag(version: 4, id3Frame("TALB", [3] + Array("Album".utf8))))
        let expected = TrackTags(title: "Title", artist: "Artist", album: "Album")
        for file in [Self.made { $0.before = texts + id3 }, Self.made { $0.after = texts + id3 }] {
            let decoder = try await openedPCM(file.bytes, isStored: true)
            #expect(decoder.info.tags == expected)
            expectSame(try await decodeBytes(decoder), file.pcm)
        }
    }

    @Test(arguments: [("ima4", "IMA ADPCM"), ("ulaw", "µ-law"), ("MAC3", "MACE 3:1"), ("WXYZ", "codec WXYZ")])
    func `other codecs are refused by name`(codec: String, name: String) async {
        #expect(
            await refusalOfPCM(Self.made(.s16, codec).bytes)
                == SafeText("AIFF with \(name) – Reprise plays AIFF with PCM only")
        )
    }

    @Test func `impossible headers are refused`() async {
        func with(_ bytes: [UInt8], at index: Int) -> [UInt8] {
            var file = Self.made().bytes
            file.replaceSubrange(index..<index + bytes.count, with: bytes)
            return file
        }
        #expect(
            await refusalOfPCM(with([0, 0], at: 20))
                == "AIFF with 0 channels – Reprise plays 1 to 8 channels only"
        )
        #expect(
            await refusalOfPCM(with([0, 99], at: 26))
                == "AIFF with samples of 104 bits – Reprise plays 8 to 32 bits only"
        )
        #expect(
            await refusalOfPCM(with([0x7F, 0xFF], at: 28))
                == "AIFF with an impossible rate – Reprise plays 1,000 to 768,000 Hz only"
        )
        #expect(
            await refusalOfPCM(Array(Self.made().bytes.prefix(40))) == "No sound in it (damaged or cut short)"
        )
    }
}
