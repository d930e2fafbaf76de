import Decoding
import Media
import TestSupport
import Testing

@Suite struct ID3Tests {
    @Test(
        arguments: [
            ([0] + Array("Caf".utf8) + [0xE9], "Café"),
            ([1, 0xFF, 0xFE, 0x4B, 0x04, 0x38, 0x04], "ыи"),
            ([1, 0xFE, 0xFF, 0x68, 0x5C], "桜"),
            ([2, 0x68, 0x5C, 0x30, 0x6E], "桜の"),
            ([3] + Array("Кино".utf8), "Кино"),
            ([3] + Array("one\0two\0".utf8), "one, two"),
            ([1, 0xFF, 0xFE, 0x41], ""),
            ([], ""),
        ] as [([UInt8], String)]
    )
    func `text in all four encodings is read`(payload: [UInt8], expected: String) {
        #expect(ID3Text.decode(payload[...]) == expected)
    }

    @Test(arguments: [2, 3, 4] as [UInt8])
    func `text frames of every version are read, and others are skipped`(version: UInt8) throws {
        let names =
            version == 2
            ? ["TT2", "TP1", "TAL", "TRK", "TYE", "PIC"]
            : ["TIT2", "TPE1", "TALB", "TRCK", version == 3 ? "TYER" : "TDRC", "APIC"]
        let texts = ["Title", "Artist", "Album", "3/12", "1999"]
        var content = id3Frame(names[5], [UInt8](repeating: 0x54, count: 100))
        for (name, text) in zip(names, texts) { content += id3Frame(name, [0] + Array(text.utf8)) }
        let bytes = id3Tag(version: version, content + [UInt8](repeating: 0, count: 50))
        let parsed = try #require(ID3v2Tag(bytes[...]))
        let expected = TrackTags(
            title: "Title",
            artist: "Artist",
            album: "Album",
            year: "1999",
            number: "3/12"
        )
        #expect(parsed.tags == expected)
    }

    @Test func `unsynchronised text is restored`() throws {
        // 0xFF 0xFE begins the text; the tag's writer put a zero between them.
        let whole = id3Frame("TIT2", [1, 0xFF, 0xFE, 0x41, 0x00])
        let marked = whole.flatMap { $0 == 0xFF ? [$0, 0] : [$0] }
        #expect(try #require(ID3v2Tag(id3Tag(version: 3, flags: 0x80, marked)[...])).tags.title == "A")
        let body: [UInt8] = [1, 0xFF, 0x00, 0xFE, 0x41, 0x00]
        let newer = id3Tag(version: 4, id3Frame("TIT2", body, flags: [0, 2]))
        #expect(try #require(ID3v2Tag(newer[...])).tags.title == "A")
    }

    @Test func `extended headers and footers are skipped`() throws {
        let title = id3Frame("TIT2", [3] + Array("A".utf8))
        let three = id3Tag(version: 3, flags: 0x40, [0, 0, 0, 6, 0, 0, 0, 0, 0, 0] + title)
        #expect(try #require(ID3v2Tag(three[...])).tags.title == "A")
        let four = id3Tag(version: 4, flags: 0x50, [0, 0, 0, 6, 1, 0] + title)
        #expect(try #require(ID3v2Tag(four[...])).tags.title == "A")
        #expect(try #require(ID3v2Header(four[...])).tagByteCount == four.count + 10)
    }

    @Test func `a tag of which only the start was read gives the texts in it`() throws {
        let content =
            id3Frame("TIT2", [3] + Array("A".utf8)) + id3Frame("APIC", [UInt8](repeating: 1, count: 9_000))
        let parsed = try #require(ID3v2Tag(id3Tag(version: 3, content).prefix(2_000)))
        #expect(parsed.tags.title == "A")
    }

    @Test(arguments: 0..<500 as Range<UInt64>)
    func `no bytes crash the parser, and no control character passes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = id3Tag(version: UInt8(2 + seed % 3), flags: UInt8.random(in: 0...255, using: &random), [])
        bytes[9] = 0x7F
        for name in ["TIT2", "TT2", "APIC", "TPE1"] {
            bytes += Array(name.utf8) + (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) & 0x9F }
        }
        let text = ID3v2Tag(bytes[...])?.tags.title?.string ?? ""
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
    }

    @Test func `the tag at the end is read, with its number`() throws {
        var bytes = Array("TAG".utf8) + Array("Title".utf8) + [UInt8](repeating: 0, count: 120)
        bytes.replaceSubrange(33..<39, with: "Artist".utf8)
        bytes.replaceSubrange(93..<97, with: "1999".utf8)
        bytes[126] = 7
        #expect(
            ID3v1Tag.tags(in: bytes) == TrackTags(title: "Title", artist: "Artist", year: "1999", number: "7")
        )
        #expect(ID3v1Tag.tags(in: Array(bytes.dropFirst())) == nil)
    }
}
