import Decoding
import Media
import TestSupport
import Testing

@Suite struct OpeningTests {
    @Test func `a cold start touches only the first 64 KiB before the first sound`() async throws {
        for fixture in Fixture.all {
            let source = MemorySource(fixture.bytes)
            _ = try await decodeRest(MPEGDecoder(source: source), limit: 2_304)
            #expect(source.reads.first?.offset == 0 && source.reads.first?.asked == 65_536)
            #expect(source.reads.allSatisfy { $0.offset + Int64($0.asked) <= 65_536 }, "\(fixture)")
        }
    }

    @Test func `a cover of 600 KB costs one more read`() async throws {
        let bytes = tag(of: 600_000) + Fixture.cbr.bytes
        let source = MemorySource(bytes)
        let decoder = MPEGDecoder(source: source)
        let heard = try await decodeRest(decoder, limit: 2_304)
        #expect(heard == Array(try await decodeRest(MPEGDecoder(Fixture.cbr.bytes), limit: 2_304)))
        #expect(source.reads.map(\.offset) == [0, 600_000])
        #expect(source.reads.map(\.asked).reduce(0, +) <= 131_072)
        #expect(decoder.info.tags.title == "Title" && decoder.info.audioStart > 600_000)
    }

    @Test func `the tail is never read unless it is stored`() async throws {
        let tail = Array("TAGTitle".utf8) + [UInt8](repeating: 0, count: 120)
        for isStored in [false, true] {
            let source = MemorySource(Fixture.vbr.bytes + tail, isStored: isStored)
            let decoder = try await MPEGDecoder(source: source).opened()
            // One stored read for the tag, and one that finds no other tag in front of it.
            #expect(source.reads.count == (isStored ? 3 : 1) && source.requests.count == (isStored ? 0 : 1))
            #expect((decoder.info.tags.title == "Title") == isStored)
        }
    }

    @Test(
        arguments: [
            ([], .emptyResource, "is empty"),
            ([UInt8](repeating: 0, count: 300_000), .notAudio, "not a known audio format – Reprise plays"),
            (Array("\n <!DOCTYPE html><html><body>Please log in</body></html>".utf8), .notAudio, "web page"),
            (
                [0x1F, 0x8B, 8] + [UInt8](repeating: 7, count: 600), .notAudio,
                "compressed with gzip"
            ),
            (Array("ID3".utf8), .notAudio, "not a known audio format – Reprise plays"),
        ] as [([UInt8], MediaError.Code, String)]
    )
    func `the error names what was found instead of music`(
        bytes: [UInt8],
        code: MediaError.Code,
        words: String
    ) async throws {
        let error = await #expect(throws: MediaError.self) { try await MPEGDecoder(bytes).open() }
        #expect(error?.code == code && error?.subject == "song.mp3")
        #expect(error?.description.contains(words) == true)
    }

    @Test func `the search for music ends after 64 KiB`() async throws {
        let source = MemorySource([UInt8](repeating: 0x20, count: 70_000) + Fixture.cbr.bytes)
        await #expect(throws: MediaError.self) { try await MPEGDecoder(source: source).open() }
        #expect(source.reads.map(\.given).reduce(0, +) <= 90_000)
    }

    @Test(arguments: Fixture.all)
    func `the duration is stated by a header, or exact at the end`(fixture: Fixture) async throws {
        let decoder = try await MPEGDecoder(fixture.bytes).opened()
        let first = decoder.info
        // The frames of the lowest rate are too short to hold a header.
        let isBare = fixture.name.contains("without") || fixture.name == Fixture.lowest.name
        #expect(first.isDurationExact == !isBare)
        let samples = try await decodeRest(decoder)
        let counted = first.format.duration(of: Int64(samples.count / first.format.channelCount))
        #expect(decoder.info.duration == counted && decoder.info.isDurationExact)
        #expect(isBare || first.duration == counted)
    }

    @Test func `tags in other scripts before a large cover are read`() async throws {
        let decoder = try await MPEGDecoder(Fixture.asset("06-cover").bytes).opened()
        #expect(decoder.info.tags.title == "桜の季節" && decoder.info.tags.artist == "Кино и весна")
        #expect(decoder.info.audioStart > 400_000)
    }
}
