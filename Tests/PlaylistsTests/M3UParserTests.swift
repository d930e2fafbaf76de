import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct M3UParserTests {
    @Test(arguments: ["\n", "\r\n", "\r", "\n\n", " \t\r\n"], ["", "\u{FEFF}"])
    func `line ends and a byte order mark make no difference`(end: String, mark: String) throws {
        let lines = ["#EXTM3U", "#EXTINF:12,A - B", "one.mp3", "  two.mp3\t", "#EXTINF:-1,C", "three.mp3"]
        let tags = TrackTags(title: "B", artist: "A")
        #expect(
            try entries(mark + lines.joined(separator: end)) == [
                PlaylistEntry(reference: "one.mp3", tags: tags, duration: .seconds(12)),
                PlaylistEntry(reference: "two.mp3"),
                PlaylistEntry(reference: "three.mp3", tags: TrackTags(title: "C")),
            ]
        )
    }

    @Test(
        arguments: [
            ("#EXTINF:1.5,T", "T", nil, 1_500), ("#EXTINF:0,T", "T", nil, nil),
            ("#EXTINF:-1,T", "T", nil, nil),
            ("#EXTINF:,T", "T", nil, nil), ("#EXTINF: 7 , T ", "T", nil, 7_000), ("#EXTINF:", nil, nil, nil),
            ("#extinf:7,T", "T", nil, 7_000), ("#EXTINF:7", nil, nil, 7_000), ("#EXTINF:7,", nil, nil, 7_000),
            ("#EXTINF:7 logo=\"a,b\" x=\"y\",A - T", "T", "A", 7_000), ("#EXTINF:7 x=\"y,T", "T", nil, 7_000),
            ("#EXTINF:7,A - B - C", "B - C", "A", 7_000), ("#EXTINF:7,A-B", "A-B", nil, 7_000),
            ("#EXTINF:7, - T", "- T", nil, 7_000), ("#EXTINF:7,A, B - T, U", "T, U", "A, B", 7_000),
            ("#EXTINF:99999999999999999999999,T", "T", nil, nil), ("#EXTINF:x,T", "T", nil, nil),
            ("#EXTINF:1,x\u{1B}]0;x\u{7}y", "x\u{FFFD}]0;x\u{FFFD}y", nil, 1_000),
        ] as [(String, String?, String?, Int?)]
    )
    func `EXTINF has artist, title and duration`(line: String, title: String?, artist: String?, ms: Int?)
        throws
    {
        // Comments between EXTINF and the file are skipped.
        let entry = try #require(try entries(line + "\n#EXTVLCOPT:x\n# words\nfile.mp3", as: .m3u).first)
        #expect(entry.tags.title?.string == title && entry.tags.artist?.string == artist)
        #expect(entry.duration == ms.map { .milliseconds($0) })
    }

    @Test func `a line that is not UTF-8 is CP1252`() throws {
        let quoted = [0x93, 0x41, 0x94, 0x80, 0x9F, 0x2E, 0x0A]
        let undefined = [0xE9, 0x81, 0x8D, 0x8F, 0x90, 0x9D]
        let bytes = Array("caf\u{E9}.mp3\n".utf8) + (quoted + undefined).map(UInt8.init)
        let expected = ["café.mp3", "“A”€Ÿ.", "é" + String(repeating: "\u{FFFD}", count: 5)]
        #expect(try entries(bytes, as: .m3u).map(\.text) == expected)
    }

    @Test(
        arguments: [
            (0x41, "A"), (0x80, "€"), (0x85, "…"), (0x8A, "Š"), (0x99, "™"), (0x9E, "ž"), (0xA0, "\u{A0}"),
            (0xFF, "ÿ"),
        ] as [(UInt8, Unicode.Scalar)]
    )
    func `the table of CP1252`(byte: UInt8, expected: Unicode.Scalar) {
        #expect(LegacyText.windowsScalar(byte) == expected)
    }
}
