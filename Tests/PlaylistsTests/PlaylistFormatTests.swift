import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct PlaylistFormatTests {
    @Test(
        arguments: [
            ("a.m3u", .m3u), ("/x/a.M3U8", .m3u), ("a.pls", .pls), ("a.b.xspf", .xspf), ("a.mp3", nil),
            ("m3u", nil),
            ("a.m3u/b", nil), ("a.xm3u", nil), ("a.m3u9", nil), ("", nil), (".pls", .pls), ("as", nil),
        ] as [(String, PlaylistFormat?)]
    )
    func `the extension tells the format`(name: String, expected: PlaylistFormat?) {
        #expect(PlaylistFormat(extensionOf: name) == expected)
    }

    @Test(
        arguments: [
            ("#EXTM3U\na", .m3u), ("\u{FEFF} #extm3u", .m3u), ("#EXTINF:1,a", .m3u),
            ("[playlist]\nFile1=a", .pls),
            ("\n[PLAYLIST]", .pls), ("<?xml version='1.0'?><playlist>", .xspf), ("a.mp3", nil), ("", nil),
        ] as [(String, PlaylistFormat?)]
    )
    func `content tells the format`(text: String, expected: PlaylistFormat?) throws {
        #expect(try PlaylistFormat(of: Array(text.utf8), subject: "list") == expected)
    }

    @Test func `content wins over the name`() throws {
        #expect(try entries("[playlist]\nFile1=a.mp3", as: .m3u).map(\.reference) == ["a.mp3"])
        #expect(try entries("#EXTM3U\na.mp3", as: .xspf).map(\.reference) == ["a.mp3"])
    }

    @Test(
        arguments: [
            ("<!DOCTYPE html><p>", "web page"), (" <HTML>", "web page"), ("<?xml?><html>", "web page"),
            ("<rss></rss>", "XML"), ("ID3\u{3}\u{0}", "binary"), ("\u{0}", "binary"),
        ]
    )
    func `what is something else is refused by its name`(text: String, word: String) {
        #expect {
            try entries(text, as: .m3u)
        } throws: { error in
            (error as? MediaError)?.code == .badPlaylist && "\(error)".contains(word)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `random bytes named as a playlist are none`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect {
            try Playlist.entries(of: bytes, expected: .m3u, subject: "list")
        } throws: {
            ($0 as? MediaError)?.code == .badPlaylist
        }
    }

    @Test(arguments: [("a.mp3\n", "", ""), ("File#=a.mp3\n", "[playlist]\n", ""), Self.xspf])
    func `a list of any format has at most so many entries as are allowed`(
        entry: String,
        head: String,
        tail: String
    ) throws {
        var limits = PlaylistLimits()
        limits.entries = 10
        func entries(_ count: Int) throws -> [PlaylistEntry] {
            let body = (1...count).map { entry.replacing("#", with: "\($0)") }.joined()
            let text = head + body + tail
            return try Playlist.entries(
                of: Array(text.utf8),
                expected: nil,
                subject: "list",
                limits: limits
            )
        }
        #expect(try entries(10).count == 10)
        let error = #expect(throws: MediaError.self) { try entries(11) }
        #expect(error?.description == "list: the playlist is too long (more than 10 entries)")
    }

    private static let xspf = (
        "<track><location>a</location></track>", "<playlist><trackList>", "</trackList></playlist>"
    )
}
