import Media
import TestSupport
import Testing

@testable import Playlists

/// The kinds of resources by what is known of them: the table that a new kind of list adds a row to.
@Suite
struct ResourceKindTests {
    enum Answer: Sendable, Equatable {
        case music
        case list(PlaylistFormat)
        case refused(SafeText)
    }

    private static let page: Answer = .refused("got a web page instead of audio (wrong link or login page?)")
    private static let cue: Answer = .refused("cue sheets are not supported – play the audio file it names")
    private static let library: Answer = .refused(
        "iTunes libraries are not supported – export the playlist as M3U"
    )
    private static let xml: Answer = .refused("not a playlist (XML of another kind)")
    private static let music: Answer = .refused("not a playlist (music)")
    private static let binary: Answer = .refused("not a playlist (binary data)")

    /// A name and a content; then the kind by the name alone (as of URLs and entries of lists), of a local
    /// file, and of a resource that is read as a list.
    static let rows: [(String, String, Answer, Answer, Answer)] = [
        // Names alone: all of a list's names, those of music, and names that are neither.
        ("a.m3u", "x.mp3", .list(.m3u), .list(.m3u), .list(.m3u)),
        ("a.M3U8", "x.mp3", .list(.m3u), .list(.m3u), .list(.m3u)),
        ("a.b.xspf", "", .list(.xspf), .list(.xspf), .list(.xspf)),
        (".pls", "", .list(.pls), .list(.pls), .list(.pls)),
        ("a.mp3", "x.mp3", .music, .music, music),
        ("a.MPEG", "", .music, .music, music),
        ("a.wv", "x.mp3", .music, .music, .list(.m3u)),
        ("a.flac", "", .music, .music, music),
        ("words", "x.mp3", .music, .music, .list(.m3u)),
        ("m3u", "", .music, .music, .list(.m3u)),
        ("a.xm3u", "", .music, .music, .list(.m3u)),
        ("a.m3u9", "", .music, .music, .list(.m3u)),
        ("as", "", .music, .music, .list(.m3u)),
        // The first bytes decide about a file whose name says nothing, and about the format of each list.
        ("a", "#EXTM3U\nx", .music, .list(.m3u), .list(.m3u)),
        ("a", "\u{FEFF} #extm3u", .music, .list(.m3u), .list(.m3u)),
        ("a.txt", "#EXTINF:1,x", .music, .list(.m3u), .list(.m3u)),
        ("a", "\n[PLAYLIST]", .music, .list(.pls), .list(.pls)),
        ("a", "<?xml version='1.0'?><playlist>", .music, .list(.xspf), .list(.xspf)),
        ("a.m3u", "[playlist]\nFile1=x", .list(.m3u), .list(.pls), .list(.pls)),
        ("a.pls", "<playlist>", .list(.pls), .list(.xspf), .list(.xspf)),
        ("a.xspf", "#EXTM3U", .list(.xspf), .list(.m3u), .list(.m3u)),
        ("a.mp3", "#EXTM3U\nx", .music, .list(.m3u), .list(.m3u)),
        // What is certainly no list is refused as one, and otherwise left to the decoder.
        ("a.m3u", "<!DOCTYPE html><p>", .list(.m3u), .list(.m3u), page),
        ("a", " <HTML>", .music, .music, page),
        ("a.m3u", "<?xml?><html>", .list(.m3u), .list(.m3u), page),
        ("a", "<html></html>", .music, .music, page),
        ("a", "<!-- <playlist> --><asx></asx>", .music, .list(.asx), .list(.asx)),
        ("a", "<!-- <playlist> --><cast></cast>", .music, .music, xml),
        ("a.WAX", "<ASX version = '3'>", .list(.asx), .list(.asx), .list(.asx)),
        ("a.wpl", "<?wpl version='1.0'?>\n<smil>", .list(.asx), .list(.asx), .list(.asx)),
        ("a.asx", "[Reference]\nRef1=http://h/a", .list(.asx), .list(.pls), .list(.pls)),
        ("a.ram", "http://h/a.mp3", .list(.m3u), .list(.m3u), .list(.m3u)),
        ("a.jspf", "\n{ \"playlist\" : {", .list(.jspf), .list(.jspf), .list(.jspf)),
        ("a.json", "{\"playlist\":", .music, .list(.jspf), .list(.jspf)),
        ("a.json", "{\"error\":1}", .music, .music, .list(.m3u)),
        ("a.cue", "REM x\nFILE \"a.flac\" WAVE\n TRACK 01 AUDIO\n  INDEX 01 00:00:00", .music, .music, cue),
        ("a.xml", "<?xml?><!DOCTYPE plist><plist>", .music, .music, library),
        ("a", "<!-- cut", .music, .music, xml),
        ("a", "<rss></rss>", .music, .list(.feed), .list(.feed)),
        ("a.mp3", "<?xml version='1.0'?>\n<!-- x --> <feed xmlns='x'>", .music, .list(.feed), .list(.feed)),
        ("a", "<rdf:RDF>", .music, .list(.feed), .list(.feed)),
        ("a", "<!DOCTYPE opml SYSTEM 'x'>\n<opml version='2.0'>", .music, .list(.opml), .list(.opml)),
        ("a", "<x:playlist xmlns:x='y'>", .music, .list(.xspf), .list(.xspf)),
        ("a", "<p>playlist</p>", .music, .music, xml),
        // HLS is a list of the pieces of one stream.
        ("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts", .list(.m3u), .music, music),
        ("a", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n1.m3u8", .music, .music, music),
        // M3U lists have private tags.
        ("a", "#EXTM3U\n#EXT-X-APP:TV\n#EXTINF:9,\n1.mp3", .music, .list(.m3u), .list(.m3u)),
        // A tag means music, whatever the name says.
        ("a.m3u", "ID3\u{3}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}#EXTM3U", .list(.m3u), .music, music),
        // So does a magic number of music.
        ("a.m3u", "fLaC", .list(.m3u), .music, music), ("a.pls", "fLaC", .list(.pls), .music, music),
        ("a.pls", "ID3\u{3}\u{0}", .list(.pls), .list(.pls), binary),
        ("a", "\u{0}", .music, .music, binary),
        ("a", "x\u{7}", .music, .music, binary),
        ("a", "#EXTM3U\n\u{7}", .music, .list(.m3u), .list(.m3u)),
        ("a", "#EXTM3U\n\u{0}", .music, .music, binary),
    ]

    @Test(arguments: rows)
    func `the name and the first bytes decide about the kind`(
        name: String,
        content: String,
        byName: Answer,
        ofFile: Answer,
        ofList: Answer
    ) throws {
        let bytes = Array(content.utf8)
        #expect(Answer(ResourceKind.of(name: name)) == byName)
        let folder = try TemporaryFolder()
        #expect(Answer(try LocalFile.kind(of: folder.write(name, content))) == ofFile)
        // A list is read by what it is, whatever type its server states, unless it could be any text.
        for type in [nil, "audio/mpeg", "text/html"] {
            let kind = ResourceKind.of(contentType: type, firstBytes: bytes, name: name)
            #expect(Answer(ofList: kind) == ofList)
        }
    }

    @Test(
        arguments: [
            // The first bytes decide before the content type, and that before the name.
            ("#EXTM3U\nx", "audio/x-scpls", "a.pls", .list(.m3u)),
            ("x.mp3", "audio/x-mpegurl", "listen", .list(.m3u)),
            ("x.mp3", "audio/x-mpegurl", "a.pls", .list(.m3u)),
            ("x", "application/pls+xml", "a", .list(.pls)),
            ("x", "text/plain", "a.pls", .list(.pls)), ("x", "audio/mpeg", "a", .unknown(notList: nil)),
            ("\u{0}\u{1}", "audio/x-mpegurl", "a.m3u", .unknown(notList: "not a playlist (binary data)")),
            ("ID3\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "audio/x-mpegurl", "a.m3u", .music),
            ("fLaC", "audio/x-mpegurl", "a.m3u", .music),
            // A page or an array is a folder only where a folder can be.
            ("<html>", "text/html", "/music/", .list(.webFolder)),
            ("<html>", "text/html", "/music", .unknown(notList: ResourceKind.page)),
            ("[\n{ \"name\"", "application/json", "/music/", .list(.webFolder)),
            ("[]", "application/json", "/", .list(.webFolder)), ("[{", nil, "/a", .unknown(notList: nil)),
            ("[x]", nil, "/a/", .unknown(notList: nil)),
        ] as [(String, String?, String, ResourceKind)]
    )
    func `first bytes come before the content type, and that before the name`(
        content: String,
        type: String?,
        name: String,
        kind: ResourceKind
    ) {
        #expect(ResourceKind.of(contentType: type, firstBytes: Array(content.utf8), name: name) == kind)
    }

    @Test func `XML in UTF-16 is recognized by its root`() {
        let bytes: [UInt8] = [0xFF, 0xFE] + "<?xml?><rss>".utf8.flatMap { [$0, 0] }
        #expect(ResourceKind.of(firstBytes: bytes, name: "a") == .list(.feed))
    }

    @Test func `a folder is one whatever its name`() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.m3u/b.mp3")
        #expect(try LocalFile.kind(of: folder.path + "/a.m3u") == .folder)
    }
}

extension ResourceKindTests.Answer {
    /// Of a resource that is opened.
    fileprivate init(_ kind: ResourceKind) {
        self = if case .list(let format) = kind { .list(format) } else { .music }
    }

    /// Of a resource that is read as a list.
    fileprivate init(ofList kind: ResourceKind) {
        switch kind {
        case .list(let format): self = .list(format)
        case .unknown(notList: let reason?): self = .refused(reason)
        case .music: self = .refused("not a playlist (music)")
        case .unknown, .folder: self = .list(.m3u)
        }
    }
}
