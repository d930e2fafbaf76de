import Media
import TestSupport
import Testing

@testable import Playlists

/// Feeds and lists that are no well-formed XML.
@Suite struct XMLRepairTests {
    private static let head = "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Sea</title>"
    private static let tail = "</channel></rss>"

    private static func item(_ title: String, url: String = "http://h/a.mp3", more: String = "") -> String {
        "<item><title>\(title)</title><enclosure url=\"\(url)\" type=\"audio/mpeg\"/>\(more)</item>"
    }

    private static func feed(_ items: String...) -> String { head + items.joined() + tail }

    private func titles(_ bytes: [UInt8]) throws(XMLFault) -> [String?] {
        try FeedParser.entries(of: bytes, limit: 100).map(\.tags.title?.string)
    }

    /// A document, and the titles of its episodes.
    private static let flaws: [(flaw: String, text: String, titles: [String])] = [
        ("blank lines first", "\n\r\n " + feed(item("A")), ["A"]),
        ("a mark and a blank line first", "\u{FEFF}\n" + feed(item("A")), ["A"]),
        ("words first", "Warning: x\n" + feed(item("A")), ["A"]),
        (
            "a bare ampersand", feed(item("Rock & Roll"), item("B&B; &c &"), item("C")),
            ["Rock & Roll", "B&B; &c &", "C"]
        ),
        ("a bare ampersand in a URL", feed(item("A", url: "http://h/a?b=1&c=2&copy=3")), ["A"]),
        ("entities of HTML", feed(item("Caf&eacute;&nbsp;&ndash; &lt;1&gt;&hellip;")), ["Café\u{A0}– <1>…"]),
        ("entities without a declaration", "<!DOCTYPE rss SYSTEM \"x.dtd\">" + feed(item("&eacute;")), ["é"]),
        ("numbers of CP1252", feed(item("&#147;A&#x94;&#0;&#1;"), "&nbsp;"), ["“A”"]),
        (
            "control characters", feed(item("A\u{1}\u{1B}B\u{C}"), item("<![CDATA[C\u{2}&amp;]]>")),
            ["AB", "C&amp;"]
        ),
        ("noncharacters", feed(item("A\u{FFFE}B\u{FFFF}")), ["AB"]),
        (
            "undeclared prefixes",
            feed(item("A", more: "<itunes:duration>60</itunes:duration><x:y z:a=\"1\"/>")), ["A"]
        ),
        ("a bare less-than sign", feed(item("1 < 2 <3 <- x")), ["1 < 2 <3 <- x"]),
        ("an end of CDATA outside of it", feed(item("A ]]> B")), ["A ]]> B"]),
        (
            "HTML in a text",
            feed(item("A", more: "<description><p>x<br>y<img src=q></description>"), item("B")), ["A", "B"]
        ),
        ("ends that cross", feed(item("<b><i>A</b></i>"), item("B")), ["A", "B"]),
        ("an end without a start", feed(item("A"), "</item></b>", item("B")), ["A", "B"]),
        ("ends in another case", feed("<item><title>A</TITLE><enclosure url='x'/></Item>"), ["A"]),
        (
            "a doubled attribute",
            feed("<item><title>A</title><enclosure url='x' url='y'></enclosure></item>"), ["A"]
        ),
        (
            "attributes without quotes",
            feed("<item async><title>A</title><enclosure url=x type=audio/mpeg /></item>"), ["A"]
        ),
        (
            "a tag without its end", feed("<item><title>A</title><enclosure url='x' </item>", item("B")),
            ["A", "B"]
        ),
        ("no end", head + item("A") + item("B"), ["A", "B"]),
        (
            "cut in an item",
            head + item("A") + "<item><title>B</title><enclosure url='x'/><description>long", ["A", "B"]
        ),
        ("cut in a tag", head + item("A") + "<item><title>B</title><enclosure url=\"http://h/b.m", ["A"]),
        ("cut in CDATA", head + item("A") + "<item><enclosure url='x'/><title><![CDATA[B", ["A", "B"]),
        ("cut in a comment", head + item("A") + "<!-- <item>", ["A"]),
        ("more behind the end", feed(item("A")) + "\n<script>x</script><rss>" + item("B"), ["A"]),
    ]

    @Test(arguments: flaws)
    func `a flaw loses no episode`(flaw: String, text: String, titles: [String]) throws {
        #expect(try self.titles(Array(text.utf8)) == titles)
    }

    @Test(
        arguments: [
            // Latin-1 that is called UTF-8, or nothing.
            ("UTF-8", [0x43, 0x61, 0x66, 0xE9], "Café"), ("", [0xC9, 0x74, 0xE9], "Été"),
            ("utf-8", [0xC3, 0xA9, 0xE9, 0xE2, 0x82], "ééâ‚"), ("UTF-8", [0x93, 0x41, 0x94], "“A”"),
            ("UTF-8", [0xED, 0xA0, 0x80, 0x41], "í\u{A0}€A"),
            // UTF-8 that is called something else.
            ("iso-8859-1", [0xC3, 0xA9], "é"), ("windows-1251", [0xD0, 0x9A], "К"),
            // As declared.
            ("windows-1251", [0xCA, 0xE8, 0xED, 0xEE], "Кино"), ("ISO-8859-1", [0xE9, 0x80], "é€"),
            ("iso-8859-15", [0xA4, 0x41], "€A"), ("gb2312", [0xD6, 0xD0], "中"),
            ("Shift_JIS", [0x83, 0x4A], "カ"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x25, 0x2B, 0x1B, 0x28, 0x42], "カ"),
            ("EUC-KR", [0xC7, 0xD1], "한"),
            ("no-such-encoding", [0xE9], "é"), ("utf-16", [0x41], "A"),
        ] as [(String, [UInt8], String)]
    )
    func `a text is in the declared encoding, or in UTF-8, or in CP1252`(
        encoding: String,
        title: [UInt8],
        expected: String
    ) throws {
        let declaration = "<?xml version='1.0'" + (encoding.isEmpty ? "?>" : " encoding='\(encoding)'?>")
        let parts = (declaration + Self.feed(Self.item("#"))).split(separator: "#")
        #expect(try titles(Array(parts[0].utf8) + title + Array(parts[1].utf8)) == [expected])
    }

    @Test func `URLs in attributes are trimmed, and keep their bare ampersands`() throws {
        let urls = [" http://h/a.mp3", "\n\thttp://h/a.mp3\n", "http://h/a.mp3?x=1&y=&amp;z&lt=2"]
        for url in urls {
            let entries = try FeedParser.entries(
                of: Array(Self.feed(Self.item("A", url: url)).utf8),
                limit: 9
            )
            #expect(
                entries.map(\.reference) == [
                    url == urls[2] ? "http://h/a.mp3?x=1&y=&z&lt=2" : urls[0].trimmed
                ]
            )
        }
    }

    @Test func `lists of XSPF and OPML are repaired too`() throws {
        let xspf = "\n<playlist><trackList><track><location>a.mp3?b&c</location><title>A & B</title></track>"
        #expect(try entries(xspf, as: .xspf).map(\.tags.title) == ["A & B"])
        let opml = "\n<opml><body><outline text='a & b' xmlURL=' http://h/f?a=1&b=2 '></body>"
        #expect(
            try OPMLParser.entries(of: Array(opml.utf8), limit: 9).map(\.reference) == ["http://h/f?a=1&b=2"]
        )
    }

    // MARK: Hostile documents

    @Test(arguments: [
        "\n<!DOCTYPE rss [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>" + feed(item("&b;&b;")),
        "<rss>" + String(repeating: "<a b=1 b=1>", count: 100_000),
        "<rss>" + String(repeating: "&", count: 1_000_000),
        "<rss " + String(repeating: "a:b ", count: 100_000),
        "<rss>" + (0..<50_000).map { "<p\($0):a>" }.joined(),
        "<rss>" + String(repeating: "<", count: 100_000),
        "<rss>" + String(repeating: "<a x:b='", count: 50_000), String(repeating: "</a>", count: 100_000),
    ])
    func `a hostile document costs little and gives nothing but its texts`(text: String) {
        let bytes = Array(text.utf8)
        let repaired = XMLRepair.repaired(bytes, prefixes: FeedParser.prefixes)
        #expect(repaired.count <= bytes.count + (17 << 20))
        let found = (try? titles(bytes)) ?? []
        #expect(found.isEmpty || found == ["&b;&b;"])
    }

    @Test func `the repair of a long hostile text ends where escapes have added enough`() {
        let text = Array("<rss>".utf8) + Array(repeating: UInt8(ascii: "&"), count: 3 << 20)
        #expect(XMLRepair.repaired(text + text, prefixes: [:]).count < 2 * text.count + (17 << 20))
        let items = Array(repeating: Array("<b>&&&&&&&&</b>".utf8), count: 600_000).flatMap { $0 }
        #expect(
            XMLRepair.repaired(Array("<rss>".utf8) + items, prefixes: [:]).count < items.count + (17 << 20)
        )
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `whatever is changed in a feed, the repair makes XML of it that can be read`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let rich = Self.feed(
            Self.item("Café & <b>", more: "<itunes:duration x:y='1'>1</itunes:duration><![CDATA[x]]>")
        )
        var bytes = Array((rich + rich).utf8)
        let odd: [UInt8] = Array("<>&\"'/:;!?=[]- \n".utf8) + [0, 0x80, 0xC3, 0xFF]
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = odd.randomElement(using: &random) ?? 0
            case 1: bytes.insert(odd.randomElement(using: &random) ?? 0, at: place)
            default: bytes.removeSubrange(place..<min(place + 9, bytes.count))
            }
        }
        let repaired = XMLRepair.repaired(bytes, prefixes: FeedParser.prefixes)
        guard !repaired.isEmpty else { return }
        do throws(XMLFault) {
            try XMLDocument(FeedParser(), limit: 9).read(repaired)
        } catch {
            // A changed root is no feed.
            #expect(!error.isMalformed, "\(String(decoding: repaired, as: UTF8.self)): \(error.reason)")
        }
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
