import Media
import Testing

@testable import Playlists

@Suite struct FeedParserTests {
    private static let namespaces = """
        xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:atom="http://www.w3.org/2005/Atom" \
        xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/"
        """

    private func rss(_ items: String) throws(XMLFault) -> [PlaylistEntry] {
        try feed(
            "<?xml version=\"1.0\"?><rss version=\"2.0\" \(Self.namespaces)><channel>"
                + "<title>Harbour &amp; Sea</title><image><title>Cover</title></image>"
                + "<atom:link rel=\"self\" href=\"http://h/feed\"/>\(items)</channel></rss>"
        )
    }

    private func feed(_ text: String, limit: Int = 100) throws(XMLFault) -> [PlaylistEntry] {
        try FeedParser.entries(of: Array(text.utf8), limit: limit)
    }

    /// An item with this guid, whose enclosure is named after it.
    private func item(_ guid: String, _ more: String = "") -> String {
        "<item><guid isPermaLink=\"false\">\(guid)</guid><enclosure url=\"\(guid).mp3\" type=\"audio/mpeg\"/>\(more)</item>"
    }

    private func guids(_ items: String...) throws(XMLFault) -> [String?] {
        try rss(items.joined()).map(\.episode?.guid)
    }

    @Test func `an episode of RSS has its title, show, date, duration, guid and enclosure`() throws {
        let entries = try rss(
            """
            <item><title> The <![CDATA[Lighthouse & I]]></title><guid>abc-1</guid>
            <itunes:title>The Lighthouse</itunes:title>
            <media:content url="http://h/video.mp4" type="video/mp4"><media:title>Video</media:title></media:content>
            <content:encoded><![CDATA[<p>Long notes</p>]]></content:encoded>
            <pubDate>Mon, 23 Nov 2026 08:05:30 +0100</pubDate><itunes:duration>1:02:03</itunes:duration>
            <enclosure url="https://cdn.example/e1.mp3?a=1&amp;b=2" length="123" type="audio/mpeg"/></item>
            """
        )
        var expected = PlaylistEntry(reference: "https://cdn.example/e1.mp3?a=1&b=2", isURI: true)
        expected.tags = TrackTags(title: "The Lighthouse & I", artist: "Harbour & Sea")
        expected.duration = .seconds(3_723)
        let date = InternetDate(seconds: 1_795_417_530, offset: 3_600)
        expected.episode = PlaylistEntry.EpisodeFacts(guid: "abc-1", date: date)
        #expect(entries == [expected])
    }

    @Test func `an episode of Atom has the same`() throws {
        let entries = try feed(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:i="http://www.itunes.com/DTDs/Podcast-1.0.dtd">
            <title>Harbour</title><entry><title type="html">Fog</title><id>tag:h,2026:1</id>
            <updated>2026-11-24T00:00:00Z</updated><published>2026-11-23T08:05:30+01:00</published>
            <link rel="alternate" href="http://h/page"/><i:duration>90</i:duration>
            <link rel="enclosure" type="audio/mpeg" href="e1.mp3"/></entry>
            <entry><title>A post</title><id>2</id><link href="http://h/post"/></entry></feed>
            """
        )
        var expected = PlaylistEntry(reference: "e1.mp3", isURI: true)
        expected.tags = TrackTags(title: "Fog", artist: "Harbour")
        expected.duration = .seconds(90)
        let date = InternetDate(seconds: 1_795_417_530, offset: 3_600)
        expected.episode = PlaylistEntry.EpisodeFacts(guid: "tag:h,2026:1", date: date)
        #expect(entries == [expected])
    }

    @Test func `an episode of RSS 1.0 has the same`() throws {
        let entries = try feed(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
            xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#">
            <channel rdf:about="http://h/"><title>Harbour</title><items><rdf:Seq/></items></channel>
            <item rdf:about="http://h/1"><title>Fog</title><link>http://h/1</link>
            <dc:date>2026-11-23T08:05:30+01:00</dc:date>
            <enc:enclosure rdf:resource="e1.mp3" enc:type="audio/mpeg" enc:length="1"/></item>
            <item rdf:about="http://h/2"><title>A song</title><link>http://h/2.mp3?x</link></item>
            <item rdf:about="http://h/3"><title>A post</title><link>http://h/3.html</link></item></rdf:RDF>
            """
        )
        #expect(entries.map(\.reference) == ["e1.mp3", "http://h/2.mp3?x"])
        #expect(entries.map(\.episode?.guid) == ["http://h/1", "http://h/2"])
        #expect(entries.map(\.tags) == ["Fog", "A song"].map { TrackTags(title: $0, artist: "Harbour") })
        #expect(entries[0].episode?.date == InternetDate(seconds: 1_795_417_530, offset: 3_600))
    }

    @Test(arguments: ["", " xmlns=\"http://purl.org/atom/ns#\""])
    func `Atom without its namespace, or of its first version, is read`(namespace: String) throws {
        let entries = try feed(
            """
            <feed\(namespace)><title>Harbour</title><entry><title>Fog</title><id>1</id><issued>2026-11-23</issued>
            <link rel="enclosure" href=" e1.mp3 "/></entry></feed>
            """
        )
        #expect(entries.map(\.reference) == ["e1.mp3"] && entries[0].episode?.guid == "1")
        #expect(entries[0].episode?.date?.day == "2026-11-23" && entries[0].tags.artist == "Harbour")
    }

    @Test(
        arguments: [
            ("<media:content url=\"a.mp3\" type=\"audio/mpeg\" duration=\"61\"/>", "a.mp3", 61),
            ("<media:content url=\"a\" medium=\"audio\"/>", "a", nil),
            ("<media:content url=\"a.ogg?x\"/>", "a.ogg?x", nil),
            (
                "<media:group><media:content url=\"v\" type=\"video/mp4\"/><media:content url=\"a.mp3\"/></media:group>",
                "a.mp3", nil
            ),
            ("<media:content url=\"x.mp3\" type=\"audio/mpeg\"/><enclosure url=\"e\"/>", "e", nil),
            ("<media:content url=\"c.jpg\" medium=\"image\"/>", nil, nil),
            ("<media:content url=\"c\"/>", nil, nil),
            ("<link>http://h/song.flac</link>", "http://h/song.flac", nil),
            ("<link>http://h/x</link>", nil, nil),
        ] as [(String, String?, Double?)]
    )
    func `media:content or a link that is music is an enclosure, if there is none`(
        content: String,
        url: String?,
        seconds: Double?
    ) throws {
        let entries = try rss("<item><title>T</title>\(content)</item>")
        #expect(entries.map(\.reference) == (url.map { [$0] } ?? []))
        #expect(entries.first?.duration == seconds.map { .seconds($0) })
    }

    @Test func `episodes are ordered by date, the newest first, and those without a date come last`() throws {
        let guids = try guids(
            item("old", "<pubDate>Sun, 1 Nov 2026 10:00:00 GMT</pubDate>"),
            item("undated"),
            item("same", "<pubDate>Mon, 2 Nov 2026 10:00:00 +0200</pubDate>"),
            item("new", "<pubDate>2026-11-03T00:00:00Z</pubDate>"),
            item("same too", "<pubDate>Mon, 2 Nov 2026 08:00:00 GMT</pubDate>"),
            item("wrong", "<pubDate>soon</pubDate>")
        )
        #expect(guids == ["new", "same", "same too", "old", "undated", "wrong"])
        #expect(try self.guids(item("b"), item("a")) == ["b", "a"])
    }

    @Test(
        arguments: [
            ("3723", 3_723), ("62:03", 3_723), (" 1:02:03 ", 3_723), ("90.5", 90.5), ("0", nil),
            ("00:00:00", nil),
            ("-5", nil), ("an hour", nil), ("", nil), ("1:75:03", 8_103), ("01:02:03.50", 3_723.5),
            ("1h 2m 3s", 3_723), ("62 min", 3_720), ("1 hour, 2 minutes", 3_720), ("PT1H2M3S", 3_723),
            ("62:03 mins", 3_723), ("45'30\"", 2_730), ("90 sec.", 90), ("1:2:3:4", nil), ("3 days", nil),
            ("1e9", nil), ("99999999999999999999:00", nil), ("1h 5", nil), ("a:b", nil), ("5:", nil),
            ("PT", nil),
        ] as [(String, Double?)]
    )
    func `a duration is written as a clock time, or in hours, minutes and seconds`(
        text: String,
        seconds: Double?
    ) throws {
        let entries = try rss(item("1", "<itunes:duration>\(text)</itunes:duration>"))
        #expect(entries.map(\.duration) == [seconds.map { .seconds($0) }])
    }

    @Test func `items without audio are left out`() throws {
        let entries = try rss(
            """
            <item><guid>post</guid><link>http://h/post</link></item>
            <item><guid>video</guid><enclosure url="v.mp4" type="video/mp4"/></item>
            <item><guid>book</guid><enclosure url="b.pdf" type="application/pdf"/></item>
            <item><guid>no url</guid><enclosure type="audio/mpeg"/></item>
            <item><guid>both</guid><enclosure url="v.mp4" type="video/mp4"/><enclosure url="a.mp3" type="audio/mpeg"/>
            <enclosure url="second.mp3" type="audio/mpeg"/></item>
            <item><guid>better</guid><enclosure url="x" type="application/octet-stream"/><enclosure url="y" type="audio/mpeg"/>
            </item><item><guid>untyped</guid><enclosure url="u.mp3"/></item>
            """
        )
        #expect(entries.map(\.reference) == ["a.mp3", "y", "u.mp3"])
    }

    @Test func `the enclosure's URL stands for a guid that is missing or used twice`() throws {
        let enclosure = "<enclosure url=\"none.mp3\" type=\"audio/mpeg\"/>"
        let guids = try guids(
            "<item>\(enclosure)</item>",
            item("unique"),
            "<item><guid>twice</guid><enclosure url=\"1.mp3\"/></item>",
            "<item><guid>twice</guid><enclosure url=\"2.mp3\"/></item>"
        )
        #expect(guids == ["none.mp3", "unique", "1.mp3", "2.mp3"])
    }

    @Test(arguments: [
        "<opml><body/></opml>", "<rss><channel>", "<rss><!-- \u{0} --></rss>",
        "<!DOCTYPE rss [<!ENTITY a \"aaaa\">]><rss><channel><title>&a;</title></channel></rss>",
        "<rss>" + String(repeating: "<a>", count: 5_000),
    ])
    func `a broken feed is refused with a reason`(text: String) {
        #expect { try feed(text) } throws: { ($0 as? XMLFault)?.reason.isEmpty == false }
    }

    @Test func `a feed with too many episodes is read no further than that`() throws {
        let items = (0..<50).map { item("\($0)") }.joined()
        // The document is cut: only the beginning was looked at.
        #expect(try feed("<rss><channel>\(items)", limit: 10).count == 11)
    }

    @Test func `a huge text costs no more than the longest that is used`() throws {
        let title = String(repeating: "long ", count: 100_000)
        let entries = try rss(item("1", "<title>\(title)</title>") + item("2"))
        #expect(entries.map(\.episode?.guid) == ["1", "2"])
        #expect((entries[0].tags.title?.string.utf8.count ?? 0) <= SafeText.longest)
    }
}

@Suite struct OPMLParserTests {
    private func entries(_ text: String) throws(XMLFault) -> [PlaylistEntry] {
        try OPMLParser.entries(of: Array(text.utf8), limit: 100)
    }

    @Test func `each outline with a feed's URL is a list, at any depth and in order`() throws {
        let entries = try entries(
            """
            <?xml version="1.0"?><opml version="2.0"><head><title>Subscriptions</title></head><body>
            <outline text="Sea"><outline type="rss" text="A" xmlUrl="https://a.example/feed?x=1&amp;y=2"/>
            <outline text="Deep"><outline type="rss" xmlUrl="https://b.example/"/></outline></outline>
            <outline type="link" text="A page" url="https://c.example/"/><outline xmlUrl=""/>
            <outline type="rss" text="local" xmlUrl="c.xml"/></body></opml>
            """
        )
        #expect(
            entries.map(\.reference) == ["https://a.example/feed?x=1&y=2", "https://b.example/", "c.xml"]
        )
        #expect(entries.allSatisfy { $0.isList && $0.isURI })
    }

    @Test(arguments: ["<rss/>", "<opml><body>", "<!DOCTYPE opml [<!ENTITY a \"a\">]><opml/>"])
    func `another document is refused`(text: String) {
        #expect(throws: XMLFault.self) { try entries(text) }
    }
}
