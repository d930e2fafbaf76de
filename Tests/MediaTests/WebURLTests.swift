import Media
import TestSupport
import Testing

@Suite
struct WebURLTests {
    @Test(
        arguments: [
            ("HTTP://Host.example:80/a?b#c", "http://host.example"),
            ("https://host:8443", "https://host:8443"),
            ("http://me:secret@[::1]:81/", "http://[::1]:81"), ("https://[::1]:443/a", "https://[::1]"),
        ]
    )
    func `the text of an origin has neither secrets nor the default port`(url: String, origin: String) throws
    {
        #expect(try #require(WebURL(url)).origin == origin)
    }

    @Test(arguments: [
        ("HTTP://Example.COM", "http://example.com/"), ("http://example.com:80/a", "http://example.com/a"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://example.com:/a", "http://example.com/a"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/a/..", "http://example.com/"),
        ("http://example.com/%7euser/%2e%2e/x", "http://example.com/x"),
        ("http://example.com/a%2fb%c3%a9", "http://example.com/a%2Fb%C3%A9"),
        ("http://example.com/a b/é", "http://example.com/a%20b/%C3%A9"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/50%zz", "http://example.com/50%25zz"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        ("http://example.com?a=b c", "http://example.com/?a=b%20c"),
        ("http://example.com/?a?b=/", "http://example.com/?a?b=/"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/.hidden/a.mp3", "http://example.com/.hidden/a.mp3"),
        ("http://example.com/...", "http://example.com/..."),
        ("http://[2001:DB8::1]:8080/a", "http://[2001:db8::1]:8080/a"), ("http://[::1]/", "http://[::1]/"),
        ("http://bücher.example/", "http://bücher.example/"),
        ("http://B%C3%BCcher.example/", "http://bücher.example/"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
    ])
    func `a URL is brought into its normal form`(text: String, expected: String) {
        #expect(WebURL(text)?.requestString == expected)
    }

    @Test(arguments: [
        "", "http", "http:", "http:/a", "http://", "http:///a", "http://?q", "ftp://example.com/",
        "file:///a", "//example.com/", " http://example.com/", "http://a b/", "http://a:0/",
        "http://a:65536/", "http://a:+80/", "http://a:８０/", "http://a:b/", "http://a:1:2/",
        "http://[::1/", "http://[::1]x/", "http://[]/", "http://[::g]/", "http://[１::]/",
        "http://a%2Fb/", "http://a%40b/", "http://a%3A80/", "http://a%00b/", "http://a%2541/",
        "http://a\u{0}b/", "http://a\r\nHost: b/", "http://a\\b/", "http://a]/", "http://a\u{85}b/",
        "http://user@/", "javascript:alert(1)", "http://" + String(repeating: "a", count: WebURL.longest),
    ])
    func `a text that is not a web URL is refused`(text: String) {
        #expect(WebURL(text) == nil)
    }

    @Test(
        arguments: [
            ("http:g", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("..", "http://a/b/"),
            ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
            ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
            ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("./../g", "http://a/b/g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"), ("g#s/../x", "http://a/b/c/g"),
        ] as [(String, String?)]
    )
    func `references resolve like the examples of RFC 3986`(reference: String, expected: String?) throws {
        let base = try #require(WebURL("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.requestString == expected)
    }

    @Test(arguments: [
        ("x.mp3", true), ("/x.mp3", true), ("//h.example:8000/x.mp3", true),
        ("http://h.example:8000/x.mp3", true), ("http://h.example/x.mp3", false),
        ("https://h.example:8000/x.mp3", false), ("//other.example/x", false),
    ])
    func `a reference inherits the password only within its origin`(reference: String, inherits: Bool) throws
    {
        let base = try #require(WebURL("http://me:secret@h.example:8000/a/list.m3u"))
        let url = try #require(base.resolving(reference))
        #expect((url.userInfo?.password == "secret") == inherits)
    }

    @Test(arguments: [
        "http://me:s3cret@h.example/x?token=s3cret", "http://s3cret@h.example",
        "http://a@b:s3cret@h.example/", "http://me:%733cret@[::1]:8/x",
    ])
    func `no way of printing a URL shows its secrets`(text: String) throws {
        let url = try #require(WebURL(text))
        #expect(url.userInfo != nil)
        let shown = [
            "\(url)", "\([url])", String(reflecting: url), url.safeText.string, "\(url.userInfo as Any)",
        ]
        #expect(shown.allSatisfy { !$0.contains("s3cret") })
        #expect(!url.requestString.contains("@"))
    }

    @Test func `spellings of one URL are equal and other passwords are not`() {
        #expect(WebURL("http://A/%7Eb") == WebURL("HTTP://a:80/~b#c"))
        #expect(WebURL("http://a:b@c/") != WebURL("http://a:d@c/"))
    }

    @Test(arguments: [("http://a/b/c%20d.mp3?x", "c d.mp3"), ("http://a/b/", nil), ("http://a", nil)])
    func `the file name is the last part of the path`(text: String, expected: String?) {
        #expect(WebURL(text)?.fileName == expected)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `any accepted text has a normal form that is its own`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("aZ0.:/?#@[]%2e%é \\\u{301}\u{0}")
        let tail = (0..<Int.random(in: 0...24, using: &random)).map { _ in
            alphabet.randomElement(using: &random) ?? "a"
        }
        guard let url = WebURL("http://h" + String(tail)) else { return }
        #expect(WebURL(url.requestString)?.requestString == url.requestString)
        #expect(url.path.hasPrefix("/") && !(url.path + "/").contains("/../"))
        #expect(url.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
}
