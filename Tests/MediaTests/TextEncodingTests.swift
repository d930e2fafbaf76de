import Media
import Testing

@Suite
struct TextEncodingTests {
    @Test(
        arguments: [
            ("windows-1251", [0xCA, 0xE8, 0xED, 0xEE], "Кино"), ("KOI8-R", [0xEB, 0xC9, 0xCE, 0xCF], "Кино"),
            ("cp866", [0x8A, 0xA8, 0xAD, 0xAE], "Кино"), ("gbk", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            ("GB2312", [0xD6, 0xD0, 0xCE, 0xC4], "中文"), ("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
            ("Shift_JIS", [0x83, 0x76, 0x83, 0x8D], "プロ"), ("euc-jp", [0xA5, 0xD7, 0xA5, 0xED], "プロ"),
            ("euc-kr", [0xC7, 0xD1, 0xB1, 0xB9], "한국"), ("ISO-8859-2", [0xB3, 0xF3, 0xBC], "łóź"),
            ("iso-8859-1", [0x93, 0xE9, 0x94], "“é”"), ("windows-1258", [0x61, 0xEC], "á"),
            ("utf-16", [0xFF, 0xFE, 0xDC, 0x00], "Ü"), ("utf-16be", [0xD8, 0x3C, 0xDF, 0xB5], "🎵"),
            ("utf-32le", [0xFF, 0xFE, 0, 0, 0xDC, 0, 0, 0], "Ü"), ("UTF8", [0xC3, 0x9C], "Ü"),
        ] as [(String, [UInt8], String)]
    )
    func `text of each encoding is decoded`(label: String, bytes: [UInt8], expected: String) throws {
        let text = try #require(TextEncoding(label)).string(bytes)
        #expect(text == expected)
    }

    @Test(
        arguments: [
            (
                "windows-1252", [0x41, 0x81, 0x8D, 0x8F, 0x90, 0x9D, 0xE9],
                "A\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é"
            ),
            ("gbk", [0x41, 0xD6], "A\u{FFFD}"), ("gbk", [0xFF, 0x41], "\u{FFFD}A"),
            ("utf-16", [0x41, 0, 0x42], "A\u{FFFD}"), ("utf-8", [0x41, 0xFF, 0x42], "A\u{FFFD}B"),
            ("windows-1251", [], ""),
        ] as [(String, [UInt8], String)]
    )
    func `bytes that an encoding does not define are replaced`(
        label: String,
        bytes: [UInt8],
        expected: String
    ) throws {
        let text = try #require(TextEncoding(label)).string(bytes)
        #expect(text == expected)
    }

    @Test func `long text is decoded as a whole`() throws {
        let text = try #require(TextEncoding("windows-1251")).string(Array(repeating: 0xCA, count: 10_001))
        #expect(text == String(repeating: "К", count: 10_001))
    }

    @Test(
        arguments: [
            "", "klingon", "windows-1259", "iso-8859-99", "ISO-2022-CN-EXT", "utf-7", "UTF-8//TRANSLIT",
            "cp-1",
            String(repeating: "x", count: 100_000),
        ]
    )
    func `an encoding that no browser knows is unknown`(label: String) {
        #expect(TextEncoding(label) == nil)
    }

    @Test(
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x41], "utf-8"), ([0xFF, 0xFE, 0x41, 0], "utf-16"),
            ([0xFE, 0xFF, 0, 0x41], "utf-16be"),
            ([0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "utf-32"), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x41], "utf-32be"),
        ] as [([UInt8], String)]
    )
    func `a byte order mark shows the encoding`(bytes: [UInt8], label: String) throws {
        let encoding = try #require(TextEncoding(ofMark: bytes))
        #expect(encoding == TextEncoding(label))
        #expect(encoding.string(bytes) == "A")
        #expect(TextEncoding(ofMark: [0x41, 0x42]) == nil)
    }
}
