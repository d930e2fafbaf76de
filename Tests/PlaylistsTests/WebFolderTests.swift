import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct WebFolderTests {
    private static func references(_ page: String, at base: String = "http://h/music/") throws -> [String]? {
        let url = try #require(WebURL(base))
        let entries = Array(page.utf8).withUnsafeBufferPointer {
            WebFolder.entries(of: $0, at: url, limit: 1_000)
        }
        return entries?.map(\.reference)
    }

    @Test(arguments: WebFolderPages.all.indices)
    func `every server's page of one folder has the same entries in natural order`(index: Int) throws {
        let (server, page) = WebFolderPages.all[index]
        let base = server == "Apache with a table" ? "http://h/table/music/" : "http://h/music/"
        let url = try #require(WebURL(base))
        let found = try #require(try Self.references(page, at: base), "\(server)")
        // The spelling of the escapes differs between servers; the files are the same.
        #expect(
            found.map { PercentEncoding.decoded($0) } == [
                "./1 Été #1?.mp3", "./2 Two & a half.mp3", "./50%.mp3", "./<i>.mp3", "./a+b;c=d&amp;.mp3",
                "./A: B.mp3", "./cover.jpg", "./list.m3u", "./quote \"q\" it's.mp3", "./Sub & dir/",
            ],
            "\(server)"
        )
        // Resolved, they are the URLs of these files, each a direct child of the folder.
        let paths = found.compactMap { url.resolving($0)?.path }
        #expect(paths.count == 10 && paths.allSatisfy { $0.hasPrefix(url.path) }, "\(server)")
        #expect(paths[0] == url.path + "1%20%C3%89t%C3%A9%20%231%3F.mp3", "\(server)")
    }

    static func nginx(_ links: String...) -> String {
        "<html><head><title>Index of /music/</title></head><body><h1>Index of /music/</h1><hr><pre>"
            + links.map { "<a href=\"\($0)\">x</a> 1-Jan-2026 - 1\n" }.joined() + "</pre></body></html>"
    }

    @Test(
        arguments: [
            ("../", nil), ("/", nil), ("/music/", nil), ("./", nil), ("?C=N;O=D", nil), ("a.mp3?x", nil),
            ("a.mp3#x", nil),
            ("https://h/music/a.mp3", nil), ("http://i/music/a.mp3", nil), ("//i/music/a.mp3", nil),
            ("javascript:x()", nil), ("/other/a.mp3", nil), ("%2e%2e/secret.mp3", nil), ("sub/a.mp3", nil),
            ("../music2/a.mp3", nil), (".hidden.mp3", nil), (".git/", nil), ("", nil), ("a//", nil),
            ("a.mp3", "./a.mp3"), ("./a.mp3", "./a.mp3"), ("/music/a.mp3", "./a.mp3"),
            ("../music/a.mp3", "./a.mp3"),
            ("http://h/music/a.mp3", "./a.mp3"), ("a%2Fb.mp3", "./a%2Fb.mp3"), ("a b.mp3", "./a%20b.mp3"),
            ("a&#38;b&#x27;c&quot;&lt;&gt;&amp;amp;.mp3", "./a&b'c%22%3C%3E&amp;.mp3"),
            ("a&b&nope;.mp3", "./a&b&nope;.mp3"),
            ("sub/", "./sub/"),
        ] as [(String, String?)]
    )
    func `only links to direct children of the folder count`(link: String, reference: String?) throws {
        #expect(try Self.references(Self.nginx(link)) == (reference.map { [$0] } ?? []))
    }

    @Test(arguments: [
        "<html><body><a href=\"a.mp3\">x</a></body></html>",
        "<html><h1>My music</h1><pre><a href=\"a.mp3\">x</a></pre></html>",
        "<html><title>Index of /music/</title><pre><a href=\"a.mp3\">x</a></pre></html>",
        "<html><h1>Index of /music/</h1><a href=\"a.mp3\">x</a></html>",
        "<html><pre><a href=\"a.mp3\">x</a></pre><h1>Index of /music/</h1></html>",
        "[1]", "[{}]", "[{\"name\":\"a.mp3\"}]", "[{\"name\":\"a.mp3\",\"type\":\"song\"}]",
        "[{\"name\":\"a/b.mp3\",\"type\":\"file\"}]", "[{\"name\":\"a.mp3\",\"type\":\"file\"},",
        "[\"a.mp3\"]",
        "[{\"name\":\"a.mp3\",\"type\":\"file\"}] x", "[{\"name\":\"a.mp3\" \"type\":\"file\"}]", "[", "",
    ])
    func `every other page is no listing`(page: String) throws {
        #expect(try Self.references(page) == nil)
    }

    @Test func `links outside the rows of a listing do not count`() throws {
        let page = "<a href=\"1.mp3\">x</a>" + Self.nginx("2.mp3") + "<a href=\"3.mp3\">x</a>"
        #expect(try Self.references(page) == ["./2.mp3"])
    }

    @Test func `names in JSON may have any characters`() throws {
        let page =
            #"[ { "name":"a \"q\" \\ \u0009 #1? 50% %41.mp3", "type":"file", "size":12, "x":null },"#
            + #"{ "type":"directory", "name":"Été" } ]"#
        let found = try #require(try Self.references(page))
        #expect(found.map { PercentEncoding.decoded($0) } == ["./a \"q\" \\ \t #1? 50% %41.mp3", "./Été/"])
        #expect(try Self.references("[ \n]") == [])
    }

    @Test func `a listing has at most one entry more than the limit`() throws {
        let url = try #require(WebURL("http://h/music/"))
        let page = WebFolderPages.all[0].page
        let found = Array(page.utf8).withUnsafeBufferPointer { WebFolder.entries(of: $0, at: url, limit: 3) }
        #expect(found?.count == 4)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `a damaged listing is entries or none, and never a trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bytes = Array((WebFolderPages.all.randomElement(using: &random)?.page ?? "").utf8)
        for _ in 0..<30 {
            guard let index = bytes.indices.randomElement(using: &random) else { break }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = .random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(index..<min(bytes.count, index + 20))
            default:
                bytes.insert(
                    contentsOf: Array("\"&<a href=\"{[:,\\u".utf8).shuffled(using: &random),
                    at: index
                )
            }
        }
        let url = try #require(WebURL("http://h/music/"))
        for entry in bytes.withUnsafeBufferPointer({ WebFolder.entries(of: $0, at: url, limit: 50) }) ?? [] {
            #expect(url.resolving(entry.reference)?.path.hasPrefix("/music/") == true)
        }
    }
}
