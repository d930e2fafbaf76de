import Media
import Testing

@testable import Segments

@Suite
struct ListTextTests {
    private struct Collector: LineReader {
        var lines: [String] = []
        var starts: [Int] = []

        mutating func read(_ line: ListLine) throws(MediaError) {
            lines.append(String(decoding: line.text, as: UTF8.self))
            starts.append(line.range.lowerBound)
        }
    }

    private func collected(_ text: String, piece: Int) throws -> Collector {
        var lines = ListLines()
        var collector = Collector()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try Array(bytes[start..<min(start + piece, bytes.count)]).withUnsafeBufferPointer { part in
                try lines.feed(part, to: &collector)
            }
        }
        try lines.finish(&collector)
        return collector
    }

    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `pieces of any size make the same lines`(piece: Int) throws {
        let read = try collected("\u{FEFF}#EXTM3U\r\n\n  one \t\r\n#two\n\nthree", piece: piece)
        #expect(read.lines == ["#EXTM3U", "one", "#two", "three"])
        #expect(read.starts == [0, 13, 22, 28])
    }

    @Test(arguments: [1_000, 100_000_000])
    func `of an endless line only the beginning is kept`(piece: Int) throws {
        let read = try collected("a\n" + String(repeating: "b", count: 1_000_000) + "\nc", piece: piece)
        #expect(read.lines.map(\.count) == [1, ListLines.longest, 1])
        #expect(read.starts == [0, 2, 1_000_003])
    }

    private func attributes(_ text: String, hasEscapes: Bool = false) -> AttributeList {
        Array(text.utf8).withUnsafeBufferPointer { AttributeList($0, hasEscapes: hasEscapes) }
    }

    @Test func `quoted values may have commas, and unknown attributes are passed over`() {
        let list = attributes("METHOD=AES-128 , URI=\"a,b=c\",IV=0xaB,NEW,X = \"\",LAST=\"open")
        #expect(list["METHOD"] == "AES-128" && list["URI"] == "a,b=c" && list["IV"] == "0xaB")
        #expect(list["X"] == nil && list["b"] == nil && list["LAST"] == "open" && list["NEW"] == nil)
    }

    @Test func `escaped quotes do not end a value where a station writes them`() {
        let list = attributes("title=\"a \\\"b\\\", c\",artist=\"d\"", hasEscapes: true)
        #expect(list["title"] == "a \"b\", c" && list["artist"] == "d")
    }

    @Test(
        arguments: [
            ("10", 10_000_000), ("9.009", 9_009_000), ("5.9946671", 5_994_667), ("0", 0),
            ("10,T", 10_000_000),
            ("999999.9", 999_999_900_000), ("1.", 1_000_000), ("-1", nil), ("nan", nil), ("inf", nil),
            ("", nil),
            (".5", nil), ("1000000", nil), ("99999999999999999999999", nil),
        ] as [(String, Int64?)]
    )
    func `durations are decimal, and have bounds`(text: String, microseconds: Int64?) {
        #expect(ListNumbers.microseconds(text.utf8) == microseconds)
    }

    @Test(
        arguments: [
            ("100@200", 200..<300), ("100", 7..<107), ("0@5", nil), ("-1@5", nil), ("5@", nil), ("5@x", nil),
            ("1@2@3", nil), ("99999999999999999999", nil), ("1@99999999999999999999", nil), ("", nil),
        ] as [(String, ByteRange?)]
    )
    func `byte ranges have bounds`(text: String, range: ByteRange?) {
        #expect(ListNumbers.byteRange(text.utf8, implied: 7) == range)
    }

    @Test(
        arguments: [
            ("0x000102030405060708090a0b0c0d0e0f", Array(0...15)),
            ("0XFf", Array(repeating: 0, count: 15) + [255]),
            ("0x", nil), ("ff", nil), ("0x000102030405060708090a0b0c0d0e0f00", nil), ("0x0g", nil),
        ] as [(String, [UInt8]?)]
    )
    func `initialization vectors have up to 32 digits of either case`(text: String, bytes: [UInt8]?) {
        #expect(ListNumbers.initializationVector(text) == bytes)
    }

    @Test(
        arguments: [
            ("1.ts", "http://me:pw@h/a/1.ts"), ("/1.ts", "http://me:pw@h/1.ts"),
            ("//x/1.ts", "http://x/1.ts"),
            ("https://y/1.ts?t=1", "https://y/1.ts?t=1"), ("?t=2", "http://me:pw@h/a/list.m3u8?t=2"),
            ("live-12:00.ts", "http://me:pw@h/a/live-12:00.ts"), ("http://h/2.ts", "http://me:pw@h/2.ts"),
        ]
    )
    func `URIs are resolved against the list, and log-ins stay at its origin`(uri: String, url: String) throws
    {
        let base = web("http://me:pw@h/a/list.m3u8?token=x")
        #expect(try ListReference.location(of: uri, in: base) == web(url))
    }

    @Test(
        arguments: [
            ("file:///etc/passwd", .refusedLocalFile), ("FILE:/etc/passwd", .refusedLocalFile),
            ("ftp://h/1.ts", .unsupportedScheme), ("data:text/plain;base64,AA==", .unsupportedScheme),
            ("skd://key", .unsupportedScheme), ("javascript://x", .unsupportedScheme), ("http://", .badURL),
        ] as [(String, MediaError.Code)]
    )
    func `other schemes are refused in web and local lists`(uri: String, code: MediaError.Code) {
        for base in [listLocation, .file("/m/list.m3u8")] {
            let error = failure { () throws(MediaError) in
                _ = try ListReference.location(of: uri, in: base)
            }
            #expect(error?.code == code && (error?.cause.string.count ?? 99) <= 80)
        }
    }

    @Test func `a local list names files by their paths, and web URLs`() throws {
        let base = ResourceLocation.file("/m/list.m3u8")
        let name = { (uri: String) in try ListReference.location(of: uri, in: base) }
        #expect(try name("a b/1#.ts") == .file("/m/a b/1#.ts") && name("/x/1.ts") == .file("/x/1.ts"))
        #expect(try name("http://h/1.ts") == web("http://h/1.ts"))
        #expect(
            failure { () throws(MediaError) in _ = try ListReference.location(of: "a\0b", in: base) }?.code
                == .badURL
        )
    }
}
