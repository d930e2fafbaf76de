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
            ? ["PIC", "TT2", "TP1", "TAL", "TRK", "TYE", "TP2", "TPA", "TCO", "TCP"]
            : [
                "APIC", "TIT2", "TPE1", "TALB", "TRCK", version == 3 ? "TYER" : "TDRC", "TPE2", "TPOS",
                "TCON", "TCMP",
            ]
        let texts = ["Title", "Artist", "Album", "3/12", "1999", "Various", "1/2", "(17)(4)Eurodisco", "1"]
        var content = id3Frame(names[0], [UInt8](repeating: 0x54, count: 100))
        let cover = Int64(1_000 + 10 + content.count - 100)
        for (name, text) in zip(names.dropFirst(), texts) {
            content += id3Frame(name, [0] + Array(text.utf8))
        }
        let bytes = id3Tag(version: version, content + [UInt8](repeating: 0, count: 50))
        let parsed = try #require(ID3v2Tag(bytes[...], at: 1_000))
        var expected = TrackTags(
            title: "Title",
            artist: "Artist",
            album: "Album",
            year: "1999",
            number: "3/12"
        )
        expected.albumArtist = "Various"
        expected.disc = "1/2"
        expected.genre = "Rock, Disco, Eurodisco"
        expected.compilation = "1"
        expected.cover = cover..<cover + 100
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

    @Test(
        arguments: [
            ("names of 2.2 in 2.3", 3, sized("TP1\0", text("B")) + sized("TIT2", text("A"))),
            ("an empty frame", 4, sized("TALB", []) + both),
            ("an empty frame", 3, sized("TALB", []) + both),
            ("a compressed frame", 3, sized("TIT2", [0, 0, 0, 9, 1, 2], flags: [0, 0x80]) + both),
            ("an unknown frame", 3, sized("XSOP", [UInt8](repeating: 0x54, count: 300)) + both),
            ("a name that none may have", 3, sized("ab!c", [1, 2, 3]) + both),
            ("plain sizes in 2.4", 4, sized("APIC", [UInt8](repeating: 7, count: 300)) + both),
            ("plain sizes in 2.4", 4, sized("APIC", [UInt8](repeating: 7, count: 20_000)) + both),
            ("synchsafe sizes in 2.3", 3, id3Frame("APIC", [UInt8](repeating: 7, count: 300)) + both),
            ("a text that is too long", 3, sized("TALB", [UInt8](repeating: 0x41, count: 20_000)) + both),
            (
                "a size beyond the tag", 3,
                both + Array("TALB".utf8) + [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 3, 0x41]
            ),
        ] as [(String, UInt8, [UInt8])]
    )
    func `an odd frame costs only itself`(what: String, version: UInt8, frames: [UInt8]) throws {
        let parsed = try #require(
            ID3v2Tag(id3Tag(version: version, frames + [UInt8](repeating: 0, count: 40))[...])
        )
        #expect(parsed.tags.title == "A" && parsed.tags.artist == "B" && parsed.tags.album == nil)
        #expect(parsed.wanted == nil)
    }

    @Test func `an extended header that counts itself in 2.3 is skipped`() throws {
        let three = id3Tag(version: 3, flags: 0x40, [0, 0, 0, 10, 0, 0, 0, 0, 0, 0] + Self.both)
        #expect(try #require(ID3v2Tag(three[...])).tags.title == "A")
    }

    @Test(
        arguments: [
            ([0] + Array("Кино".utf8), "Кино"), ([0, 0xCA, 0xE8, 0xED, 0xEE], "Кино"),
            ([0] + Array("M".utf8) + [0xF6] + Array("trhead".utf8), "Mötrhead"),
            ([3, 0xC3, 0xA9, 0xFF], "é\u{FFFD}"),
            ([0] + Array("one\0two".utf8) + [0xE9], "one, twoé"), ([0xCA, 0xE8, 0xED, 0xEE], "Кино"),
        ] as [([UInt8], String)]
    )
    func `text that is called ISO 8859-1 is what it really is`(payload: [UInt8], expected: String) {
        #expect(ID3Text.decode(payload[...]) == expected)
    }

    @Test func `a text of the tag at the end may be cut within a letter`() {
        let cut = Array("Группа крови на р".utf8).prefix(30)
        #expect(String(validating: cut, as: UTF8.self) == nil)
        let bytes = Array("TAG".utf8) + cut + [UInt8](repeating: 0, count: 95)
        #expect(ID3v1Tag.tags(in: bytes)?.title == "Группа крови на")
    }

    private static func text(_ text: String) -> [UInt8] { [3] + Array(text.utf8) }

    private static let both = sized("TIT2", text("A")) + sized("TPE1", text("B"))

    /// A frame of version 2.3, or of 2.2 if its name has three letters.
    private static func sized(_ name: String, _ body: [UInt8], flags: [UInt8] = [0, 0]) -> [UInt8] {
        let size = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
        return Array(name.utf8) + (name.utf8.count == 3 ? size.dropFirst() + [] : size + flags) + body
    }

    @Test(
        arguments: [2, 3] as [UInt8],
        [66_000, 300_000, 5_000_000]
    )
    func `texts behind a picture of any size are read, for one short fetch at most`(version: UInt8, size: Int)
        async throws
    {
        let names = version == 2 ? ["PIC", "TT2", "TP1"] : ["APIC", "TIT2", "TPE1"]
        let picture = Self.sized(names[0], [UInt8](repeating: 7, count: size))
        let texts = Self.sized(names[1], Self.text("A")) + Self.sized(names[2], Self.text("B"))
        let bytes = id3Tag(version: version, picture + texts) + Fixture.vbr.bytes
        var expected = TrackTags(title: "A", artist: "B")
        let cover = Int64(10 + picture.count - size)
        expected.cover = cover..<cover + Int64(size)
        let local = MPEGDecoder(ProbedStream(source: MemorySource(bytes, isStored: true), subject: "a.mp3"))
        try await local.open()
        #expect(local.info.tags == expected)
        let source = MemorySource(bytes)
        let remote = MPEGDecoder(ProbedStream(source: source, subject: "a.mp3"))
        _ = try await decodeBytes(remote, atMost: 40_000)
        let requests = source.requests.count
        #expect(remote.info.tags.title == nil && source.prefetched.isEmpty)
        _ = try await remote.scanStored()
        #expect(source.prefetched.count == 1 && source.prefetched.allSatisfy { $0.count <= 4_096 })
        source.prefetched.forEach { source.store($0) }
        _ = try await remote.scanStored()
        #expect(
            remote.info.tags == expected && source.requests.count == requests && source.prefetched.count == 1
        )
    }

    @Test(arguments: ["ID3", "ID3 and ID3v1", "APE", "APE and ID3v1", "APE in front"])
    func `tags at the end are read`(kind: String) async throws {
        let frames = id3Frame("APIC", [UInt8](repeating: 7, count: 70_000)) + Self.both
        var tag = id3Tag(version: 4, flags: 0x10, frames)
        tag += Array("3DI".utf8) + tag[3..<10]
        if kind.hasPrefix("APE") { tag = ape(items: [("Title", "A"), ("ARTIST", "B\0")]) }
        if kind.hasSuffix("ID3v1") { tag += id3v1 }
        let music = Fixture.vbr.bytes
        let bytes = kind.hasSuffix("front") ? tag + music : music + tag
        let decoder = MPEGDecoder(ProbedStream(source: MemorySource(bytes, isStored: true), subject: "a.mp3"))
        try await decoder.open()
        #expect(decoder.info.tags.title == "A" && decoder.info.tags.artist == "B")
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

    @Test(
        arguments: [
            ("Rock", "Rock"), ("17", "Rock"), ("4\0" + "17", "Disco, Rock"),
            ("(51)(39)", "Techno-Industrial, Noise"),
            ("(4)Eurodisco", "Disco, Eurodisco"), ("(17)Rock", "Rock"), ("(RX)(CR)", "Remix, Cover"),
            ("((I think)", "(I think)"), ("(I think)", "(I think)"), ("(999)", "(999)"), ("256", "256"),
            ("(17", "(17"), ("", nil),
        ] as [(String, String?)]
    )
    func `a genre is written as a name, as a number, or as both`(written: String, expected: String?) {
        let frame = id3Tag(version: 4, id3Frame("TCON", [3] + Array(written.utf8)))
        #expect(ID3v2Tag(frame[...])?.tags.genre?.string == expected)
    }

    @Test(
        arguments: [(3, 0, [0, 0x80]), (3, 0x80, [0, 0]), (4, 0x80, [0, 0]), (4, 0, [0, 0x02])]
            as [(UInt8, UInt8, [UInt8])]
    )
    func `no place is stated of a picture that is not stored as it is shown`(
        version: UInt8,
        flags: UInt8,
        frameFlags: [UInt8]
    ) throws {
        let picture = id3Frame("APIC", [UInt8](repeating: 0x54, count: 100), flags: frameFlags)
        let title = id3Frame("TIT2", [3, 0x41])
        let tags = try #require(ID3v2Tag(id3Tag(version: version, flags: flags, picture + title)[...])).tags
        #expect(tags == TrackTags(title: "A"))
    }

    @Test func `the tag at the end is read, with its number`() throws {
        var bytes = Array("TAG".utf8) + Array("Title".utf8) + [UInt8](repeating: 0, count: 120)
        bytes.replaceSubrange(33..<39, with: "Artist".utf8)
        bytes.replaceSubrange(93..<97, with: "1999".utf8)
        bytes[126] = 7
        bytes[127] = 17
        var expected = TrackTags(title: "Title", artist: "Artist", year: "1999", number: "7")
        expected.genre = "Rock"
        #expect(ID3v1Tag.tags(in: bytes) == expected)
        bytes[127] = 255
        #expect(ID3v1Tag.tags(in: bytes)?.genre == nil)
        #expect(ID3v1Tag.tags(in: Array(bytes.dropFirst())) == nil)
    }
}
