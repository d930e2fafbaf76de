import Media
import Testing

@testable import Segments

@Suite
struct MediaPlaylistTests {
    private static let plain = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:10
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-DISCONTINUITY-SEQUENCE:3
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-NEW-TAG:whatever
        # a comment
        #EXTINF:9.5,Artist - One
        one.aac
        #EXTINF:10.25,
        #EXT-X-NEW-TAG
        two.aac?a=b
        #EXT-X-DISCONTINUITY
        #EXTINF:4
        http://other/three.aac
        #EXT-X-ENDLIST
        """

    @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
    func `a list states its segments, whatever its line ends`(end: String, mark: String) throws {
        let text = mark + Self.plain.replacing("\n", with: end)
        for piece in [1, 10, 10_000] {
            let stored = try StoredPlaylist(text, piece: piece)
            let list = stored.playlist
            #expect(list.version == 4 && list.targetDuration == .seconds(10) && list.mediaSequence == 7)
            #expect(
                list.isEnded && list.kind == .vod && list.count == 3 && list.duration == .milliseconds(23_750)
            )
            let segments = try stored.segments
            #expect(
                segments.map(\.location)
                    == ["http://h/a/one.aac", "http://h/a/two.aac?a=b", "http://other/three.aac"].map(web)
            )
            #expect(segments.map(\.title) == ["Artist - One", nil, nil])
            #expect(
                segments.map(\.mediaSequence) == [7, 8, 9] && segments.map(\.discontinuity) == [3, 3, 4]
            )
            #expect(segments.map(\.start) == [.zero, .milliseconds(9_500), .milliseconds(19_750)])
            #expect(segments.map(\.duration) == [.milliseconds(9_500), .milliseconds(10_250), .seconds(4)])
            #expect(
                segments.allSatisfy { $0.key == nil && $0.section == nil && $0.range == nil && !$0.isGap }
            )
        }
    }

    @Test(arguments: ["", "#EXT-X-PLAYLIST-TYPE:EVENT\n", "#EXT-X-PLAYLIST-TYPE:VOD\n"])
    func `a list without ENDLIST is live, whatever its type`(tag: String) throws {
        #expect(try !list(0, count: 2, tags: tag).playlist.isEnded)
    }

    @Test(arguments: [
        "", "#EXTINF:nan,\n", "#EXTINF:-5,\n", "#EXTINF:1e999,\n".replacing("1e999", with: "inf"),
        "#EXTINF:99999999999,\n",
    ])
    func `a segment without a usable duration lasts the target duration`(line: String) throws {
        let stored = try StoredPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:2,\na\n\(line)b\n")
        #expect(stored.playlist.duration == .seconds(8) && stored.playlist.count == 2)
    }

    @Test func `a list without a usable target duration has that of its longest segment`() throws {
        let stored = try StoredPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:x\n#EXTINF:2,\na\n#EXTINF:3,\nb\n")
        #expect(stored.playlist.targetDuration == .seconds(3))
    }

    @Test(
        arguments: [
            ("no desc", nil), ("1.ts", nil), ("A, B - C", "A, B - C"),
            ("title=\"Song \\\"X\\\"\",artist=\"A, B\",url=\"song_spot=\\\"M\\\"\"", "A, B - Song \"X\""),
            ("title=\"Jingle\",artist=\" \",url=\"\"", "Jingle"),
            ("title=\"text=\\\"Spot Block End\\\" x=\\\"1\\\"\",artist=\" \"", nil),
            ("x\u{1B}]0;y", "x\u{FFFD}]0;y"),
        ] as [(String, String?)]
    )
    func `EXTINF has a title, as free text or as attributes`(text: String, title: String?) throws {
        let stored = try StoredPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:2,\(text)\n1.ts\n")
        #expect(try stored.segment(0).title?.string == title)
    }

    @Test func `a date range gives a title at its time, also from before the list`() throws {
        let stored = try StoredPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:10
            #EXT-X-DATERANGE:ID="0",START-DATE="2026-11-27T07:00:00Z",X-TITLE="Old"
            #EXT-X-DATERANGE:ID="1",START-DATE="2026-11-27T08:00:12.5Z",X-TITLE="One, two",X-ARTIST="A"
            #EXT-X-DATERANGE:ID="2",START-DATE="2026-11-27T08:30:01Z",X-TITLE="Next"
            #EXT-X-DATERANGE:ID="3",START-DATE="2026-11-27T08:30:01Z",SCTE35-OUT=0xFC
            #EXT-X-DATERANGE:ID="4",START-DATE="never",X-TITLE="Lost"
            #EXT-X-PROGRAM-DATE-TIME:2026-11-27T09:00:00.000+01:00
            #EXTINF:10,
            1
            #EXTINF:10,
            2
            #EXT-X-DISCONTINUITY
            #EXT-X-PROGRAM-DATE-TIME:2026-11-27T08:30:00Z
            #EXTINF:10,
            3
            """
        )
        let titles = stored.playlist.titles
        #expect(titles.map(\.text) == ["Old", "A - One, two", "Next"])
        #expect(titles.map(\.time) == [.zero, .milliseconds(12_500), .seconds(21)])
    }

    @Test(
        arguments: [
            ("3.5", 3_500), ("-5", 7_000), ("99", 12_000), ("-99", 0), ("0", 0), ("-0.5,PRECISE=YES", 11_500),
        ]
    )
    func `EXT-X-START counts from the beginning or the end`(offset: String, milliseconds: Int) throws {
        let stored = try list(0, count: 3, tags: "#EXT-X-START:TIME-OFFSET=\(offset)\n", isEnded: true)
        let start = stored.playlist.startTime(by: stored.playlist.startOffset)
        #expect(start == .milliseconds(milliseconds))
    }

    @Test func `a time names its segment, and a segment its time`() throws {
        let playlist = try list(0, count: 1_000, seconds: "9.009009").playlist
        for index in [0, 1, 500, 999] {
            let start = playlist.start(of: index)
            #expect(start == .microseconds(9_009_009 * index))
            #expect(playlist.index(at: start) == index)
            #expect(playlist.index(at: start + .microseconds(9_009_008)) == index)
        }
        #expect(playlist.index(at: .seconds(-1)) == 0 && playlist.index(at: .seconds(1 << 60)) == 999)
        #expect(try list(0, count: 0).playlist.index(at: .zero) == nil)
    }

    @Test func `GAP marks segments that are never requested`() throws {
        let stored = try list(0, count: 5, before: [1: "#EXT-X-GAP", 4: "#EXT-X-GAP"])
        #expect((0..<5).map { stored.playlist.isGap($0) } == [false, true, false, false, true])
        #expect(try stored.segments.map(\.isGap) == [false, true, false, false, true])
    }

    @Test(
        arguments: [
            ("not a list", .badPlaylist), ("#EXTM3U\n#EXTINF:1,\na.mp3", .badPlaylist), ("", .badPlaylist),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8", .badPlaylist),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-ENDLIST", .emptyResource),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n#EXTINF:1,\nfile:///etc/passwd",
                .refusedLocalFile
            ),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI=\"file:///a\"\n1", .refusedLocalFile),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=\"file:///a\"\n1",
                .refusedLocalFile
            ),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:BYTERANGE=1\n1", .badPlaylist),
        ] as [(String, MediaError.Code)]
    )
    func `what is no playable list is refused by a sentence`(text: String, code: MediaError.Code) {
        let error = failure { () throws(MediaError) in _ = try StoredPlaylist(text) }
        #expect(error?.code == code && error?.subject == "http://h/a/list.m3u8")
        #expect((error?.cause.string.count ?? 99) <= 80)
    }

    @Test func `lists agree if number, durations, ranges and discontinuities do, whatever their URLs`() throws
    {
        let first = try list(0, count: 4, before: [2: "#EXT-X-DISCONTINUITY"], isEnded: true).playlist
        let tokens = try StoredPlaylist(
            String(decoding: list(0, count: 4, before: [2: "#EXT-X-DISCONTINUITY"]).bytes, as: UTF8.self)
                .replacing(".ts", with: ".ts?token=2"),
            at: web("https://cdn2/x/list.m3u8")
        ).playlist
        #expect(first.agrees(with: tokens) && tokens.agrees(with: first))
        for other in [
            try list(0, count: 5, before: [2: "#EXT-X-DISCONTINUITY"]), try list(0, count: 4),
            try list(0, count: 4, seconds: "4.001", before: [2: "#EXT-X-DISCONTINUITY"]),
            try list(0, count: 4, before: [1: "#EXT-X-DISCONTINUITY"]),
            try list(0, count: 4, before: [2: "#EXT-X-DISCONTINUITY\n#EXT-X-BYTERANGE:5@0"]),
        ] {
            #expect(!first.agrees(with: other.playlist))
        }
    }

    @Test func `a text that is not that of the list is refused`() throws {
        let stored = try StoredPlaylist(
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n1.ts\n"
        )
        for text in ["", "#", "\n\n\n"] {
            let error = failure { () throws(MediaError) in
                _ = try stored.playlist.segment(0) { _ in Array(text.utf8) }
            }
            #expect(error?.code == .badPlaylist)
        }
    }
}
