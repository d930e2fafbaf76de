import Media
import Testing

@testable import Segments

/// Lists of any length need bounded memory, because their text is not kept.
@Suite
struct HugePlaylistTests {
    /// The lines of segment `index`: a URL of 200 characters.
    private static func lines(_ index: Int, tags: String = "") -> [UInt8] {
        let token = String(repeating: "t", count: 200 - "http://host/.ts?t=".count - 10)
        let number = String(repeating: "0", count: 10 - String(index).count) + String(index)
        return Array("\(tags)#EXTINF:6.006,\nhttp://host/\(number).ts?t=\(token)\n".utf8)
    }

    private static let head = Array("#EXTM3U\n#EXT-X-TARGETDURATION:7\n".utf8)

    private func parsed(count: Int, tags: (Int) -> String = { _ in "" }) throws -> MediaPlaylist {
        var parser = MediaPlaylistParser(location: listLocation)
        try parser.feed(Self.head)
        for index in 0..<count { try parser.feed(Self.lines(index, tags: tags(index))) }
        return try parser.finish()
    }

    @Test func `100,000 segments need 1.5 MB, and each is found at its offset`() throws {
        let playlist = try parsed(count: 100_000)
        #expect(playlist.count == 100_000 && playlist.byteCount > 20_000_000)
        #expect(playlist.times.capacity * 8 + playlist.lines.capacity * 4 <= 3 << 20)
        #expect(playlist.duration == .milliseconds(6_006 * 100_000))
        #expect(playlist.index(at: .seconds(300_300)) == 50_000)
        let lineCount = Self.lines(0).count
        let segment = try playlist.segment(77_777) { range in
            let index = (Int(range.lowerBound) - Self.head.count) / lineCount
            #expect(Int(range.lowerBound) == Self.head.count + index * lineCount && range.count == lineCount)
            return Self.lines(index)
        }
        #expect(segment.location.url?.path == "/0000077777.ts" && segment.mediaSequence == 77_777)
    }

    @Test func `ranges, keys, maps, gaps and discontinuities of every segment stay within 10 MB`() throws {
        let playlist = try parsed(count: 5_000) { index in
            "#EXT-X-DISCONTINUITY\n#EXT-X-GAP\n#EXT-X-BYTERANGE:5@\(index)\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(index)\"\n#EXT-X-MAP:URI=\"\(index)\"\n"
        }
        let perSegment =
            (playlist.times.count * 8 + playlist.lines.count * 4 + playlist.ranges.count * 16
                + playlist.discontinuities.count * 4 + playlist.gaps.count * 4 + playlist.keyLines.values
                .count * 8
                + playlist.sections.values.count * 12) / playlist.count
        #expect(perSegment * MediaPlaylist.mostSegments <= 10 << 20)
        #expect(playlist.discontinuity(of: 4_999) == 5_000)
    }

    @Test func `a list of 10,000,000 segments is refused by a sentence`() {
        var parser = MediaPlaylistParser(location: listLocation)
        let piece = Array(repeating: Array("#EXTINF:1,\na\n".utf8), count: 1_000).flatMap { $0 }
        var count = 0
        let error = failure { () throws(MediaError) in
            try parser.feed(Self.head)
            for _ in 0..<10_000 {
                try parser.feed(piece)
                count += 1_000
            }
        }
        #expect(error?.code == .listTooLarge && count == 131_000)
    }

    @Test(arguments: ["#", "a"])
    func `a line of more than 64 MiB is refused too`(text: String) {
        var parser = MediaPlaylistParser(location: listLocation)
        let piece = Array(String(repeating: text, count: 1 << 20).utf8)
        var count = 0
        let error = failure { () throws(MediaError) in
            try parser.feed(Self.head)
            for _ in 0..<100 {
                try parser.feed(piece)
                count += 1
            }
        }
        #expect(error?.code == .listTooLarge && count == 63)
    }

    @Test func `tags without segments take no memory, and titles are bounded`() throws {
        var parser = MediaPlaylistParser(location: listLocation)
        try parser.feed(Self.head)
        let title = String(repeating: "t", count: 9_000)
        let tags = """
            #EXT-X-DISCONTINUITY
            #EXT-X-GAP
            #EXT-X-KEY:METHOD=NONE
            #EXT-X-BYTERANGE:1
            #EXT-X-DATERANGE:START-DATE="2026-11-27T08:00:00Z",X-TITLE="\(title)"

            """
        for _ in 0..<1_200 { try parser.feed(Array(tags.utf8)) }
        try parser.feed(Array("1.ts\n".utf8))
        let playlist = try parser.finish()
        #expect(playlist.discontinuities.count == 1_200 && playlist.keyLines.values.count == 1)
        #expect(playlist.datedTitles.count == 1_000)
        #expect(playlist.datedTitles.allSatisfy { $0.text.string.count == 300 })
    }
}
