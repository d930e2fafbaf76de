import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct PlaylistTests {
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `random bytes are entries or an error, and never a trap`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = [
            "#EXTINF:", "[playlist]", "File1=", "<?xml?>", "<playlist>", "\n", "\r", ",", "\"", "=", " - ",
            "9",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<40 {
            bytes += Array((words.randomElement(using: &random) ?? "").utf8)
            bytes.append(UInt8.random(in: 0x0A...0xFF, using: &random))
        }
        for format in [nil, .m3u, .pls, .xspf] as [PlaylistFormat?] {
            // An error is allowed.
            guard let found = try? entries(bytes, as: format) else { continue }
            #expect(!found.isEmpty)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `random bytes named as a playlist are none`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect { try entries(bytes, as: .m3u) } throws: { ($0 as? MediaError)?.code == .badPlaylist }
    }

    @Test(arguments: [
        ("a.mp3\n", "", ""), ("File#=a.mp3\n", "[playlist]\n", ""),
        ("<track><location>a</location></track>", "<playlist><trackList>", "</trackList></playlist>"),
    ])
    func `a list is read to one entry more than allowed`(entry: String, head: String, tail: String) throws {
        var limits = PlaylistLimits()
        limits.entries = 10
        func entries(_ count: Int) throws -> [PlaylistEntry] {
            let body = (1...count).map { entry.replacing("#", with: "\($0)") }.joined()
            let text = head + body + tail
            return try PlaylistsTests.entries(Array(text.utf8), name: "", limits: limits)
        }
        #expect(try entries(10).count == 10)
        #expect(try entries(11).count == 11)
        #expect(try (11...14).contains(entries(99).count))
    }
}
