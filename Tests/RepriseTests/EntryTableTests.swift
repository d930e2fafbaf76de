@testable import Media
import TerminalUI
import Testing

@testable import Reprise

@Suite
struct EntryTableTests {
    private static let entries = [
        CachedItem(
            url: "http://music.example/albums/a.mp3",
            tags: TrackTags(title: "Étude in C", artist: "Somebody"),
            length: 4_000_000,
            stored: ByteRangeSet([0..<1_000_000, 2_500_000..<2_600_000]),
            isPinned: true,
            created: 1_000_000 - 86_400 * 3,
            lastPlayed: 5
        ),
        CachedItem(
            url: "http://music.example/b.mp3",
            tags: TrackTags(title: "夜の音楽 – 長い長い題名がここに続く"),
            length: 52_000,
            stored: ByteRangeSet(0..<52_000),
            created: 1_000_000 - 60,
            lastPlayed: 6
        ),
        CachedItem(url: "http://h/c", stored: ByteRangeSet(0..<12), lastPlayed: 7),
    ]

    private func lines(columns: Int?, glyphs: Glyphs = .unicode) -> [String] {
        EntryTable(
            style: TextStyle(columns: columns, glyphs: glyphs),
            now: 1_000_000,
            time: { "2026-11-21 03:0\($0)" }
        ).lines(Self.entries)
    }

    @Test func `at 80 columns a row has all columns, and the title is cut`() {
        #expect(
            lines(columns: 80) == [
                "  SIZE  CACHED  MAP         LAST PLAYED          AGE  PIN  TITLE",
                "4.0 MB    27 %  ━━┈┈┈┈┈┈┈┈  2026-11-21 03:05  3 days  *    Étude in C – Somebody",
                " 52 kB   100 %  ━━━━━━━━━━  2026-11-21 03:06   1 min       夜の音楽 – 長い長い…",
                "     ?    12 B              2026-11-21 03:07       ?       c",
                "3 tracks, 1.2 MB cached, 1 pinned",
            ]
        )
    }

    @Test(arguments: [nil, 80])
    func `what was never played is listed as that`(columns: Int?) {
        let table = EntryTable(
            style: TextStyle(columns: columns, glyphs: .unicode),
            now: 0,
            time: { "\($0)" }
        )
        let lines = table.lines([CachedItem(url: "http://h/a", stored: ByteRangeSet(0..<12), lastPlayed: 0)])
        #expect(lines.contains { $0.contains("never") })
    }

    @Test func `a URL is shown unescaped`() {
        let entries = ["a%20b/S%C3%B6ng%201.mp3", "%E6%9B%B2.mp3"].map {
            CachedItem(url: SafeText("http://h/" + $0), stored: ByteRangeSet(0..<12), lastPlayed: 7)
        }
        let table = EntryTable(style: TextStyle(columns: 130, glyphs: .unicode), now: 0, time: { "\($0)" })
        let lines = table.lines(entries)
        #expect(lines[1].hasSuffix("  http://h/a b/Söng 1.mp3") && lines[2].hasSuffix("  http://h/曲.mp3"))
    }

    @Test(
        arguments: [
            ("http://h/songs/", "text/html", true), ("http://h/songs/", "application/json", true),
            ("http://h/a.m3u8", nil, true), ("http://h/a.m3u8", "text/plain", true),
            ("http://h/listen", "audio/x-mpegurl", true), ("http://h/feed", "application/rss+xml", true),
            ("http://h/a.mp3", "text/plain", false), ("http://h/play", "audio/mpeg", false),
            ("http://h/play", nil, false),
        ] as [(SafeText, SafeText?, Bool)]
    )
    func `lists, feeds and folders are counted as lists`(url: SafeText, type: SafeText?, isList: Bool) {
        var entry = CachedItem(url: url, stored: ByteRangeSet(0..<12), lastPlayed: 7)
        entry.contentType = type
        let table = EntryTable(style: TextStyle(columns: 80, glyphs: .unicode), now: 0, time: { "\($0)" })
        #expect(
            table.lines([entry]).last == (isList ? "0 tracks, 1 list, 12 B cached" : "1 track, 12 B cached")
        )
        // What was played is music.
        entry.duration = .seconds(1)
        #expect(table.lines([entry]).last == "1 track, 12 B cached")
    }

    @Test func `a narrow terminal lacks the least important columns`() {
        #expect(
            lines(columns: 60) == [
                "  SIZE  CACHED  LAST PLAYED       PIN  TITLE",
                "4.0 MB    27 %  2026-11-21 03:05  *    Étude in C – Somebody",
                " 52 kB   100 %  2026-11-21 03:06       夜の音楽 – 長い長い…",
                "     ?    12 B  2026-11-21 03:07       c",
                "3 tracks, 1.2 MB cached, 1 pinned",
            ]
        )
        #expect(
            lines(columns: 30) == [
                "CACHED  TITLE",
                "  27 %  Étude in C – Somebody",
                " 100 %  夜の音楽 – 長い長い題…",
                "  12 B  c",
                "3 tracks, 1.2 MB cached, 1 pinned",
            ]
        )
    }

    @Test func `a wide terminal has columns for title and source, and in a file nothing is cut`() {
        let wide = lines(columns: 130)
        #expect(
            wide[1] == "4.0 MB    27 %  ━━┈┈┈┈┈┈┈┈  2026-11-21 03:05  3 days  *    Étude in C – Somebody"
                + "                http://music.example/albums/a.mp3"
        )
        #expect(wide[3].hasSuffix("http://h/c"))
        #expect(wide.allSatisfy { SafeText($0).columns <= 130 })
        let file = lines(columns: nil)
        #expect(file[2].contains("夜の音楽 – 長い長い題名がここに続く  http://music.example/b.mp3"))
    }

    @Test func `without UTF-8 all text on a terminal is ASCII, and in a file only the bar`() {
        let lines = lines(columns: 80, glyphs: .ascii)
        #expect(
            lines[1] == "4.0 MB    27 %  ##........  2026-11-21 03:05  3 days  *    ?tude in C - Somebody"
        )
        #expect(lines[2].hasSuffix("  ???? ? ????????????"))
        #expect(lines.allSatisfy { $0.allSatisfy(\.isASCII) })
        let file = self.lines(columns: nil, glyphs: .ascii)
        #expect(file[1].contains("##........") && file[1].contains("Étude"))
    }

    @Test(arguments: 1...140)
    func `no line is wider than the terminal`(columns: Int) {
        for glyphs in [Glyphs.unicode, .ascii] {
            let table = lines(columns: columns, glyphs: glyphs).dropLast()
            #expect(table.allSatisfy { SafeText($0).columns <= columns })
            #expect(table.allSatisfy { !$0.isEmpty })
        }
    }

    @Test(
        arguments: [
            ([], 100, "┈┈┈┈┈┈┈┈┈┈"), ([0..<100], 100, "━━━━━━━━━━"), ([0..<5], 100, "┈┈┈┈┈┈┈┈┈┈"),
            ([0..<10, 95..<100], 100, "━┈┈┈┈┈┈┈┈┈"), ([0..<10, 90..<100], 100, "━┈┈┈┈┈┈┈┈━"),
            ([0..<1], 100, "┈"),
            ([0..<2], 3, "━━━━┈┈"), ([], .max, "┈┈┈"),
        ] as [(stored: [ByteRange], length: Int64, bar: String)]
    )
    func `a full cell of the bar means that all its bytes are stored`(
        stored: [ByteRange],
        length: Int64,
        bar: String
    ) {
        let stored = ByteRangeSet(stored)
        #expect(RangeBar.text(stored, length: length, columns: bar.count, glyphs: .unicode).string == bar)
        for (length, columns) in [(nil, 3), (0, 3), (100, 0)] as [(Int64?, Int)] {
            #expect(RangeBar.text(stored, length: length, columns: columns, glyphs: .unicode).isEmpty)
        }
    }

    @Test(
        arguments: [
            (-5, "just now"), (59, "just now"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 hour"),
            (86_400 * 2 - 1, "47 hours"), (86_400 * 2, "2 days"), (86_400 * 99, "99 days"),
            (86_400 * 100, "14 weeks"), (86_400 * 730, "2 years"),
        ] as [(seconds: Int64, text: String)]
    )
    func `an age is shown in its largest whole unit`(seconds: Int64, text: String) {
        #expect(AgeText.text(seconds: seconds).string == text)
    }

    @Test(
        arguments: [
            (nil, [], nil), (0, [], 100), (3, [0..<3], 100), (1_000, [0..<999], 99),
            (1_000, [0..<1, 500..<600], 10), (.max, [0..<(.max - 1)], 99),
        ] as [(length: Int64?, stored: [ByteRange], share: Int?)]
    )
    func `a share is rounded down, and is 100 only if no byte is missing`(
        length: Int64?,
        stored: [ByteRange],
        share: Int?
    ) {
        let entry = CachedItem(url: "s", length: length, stored: ByteRangeSet(stored), lastPlayed: 0)
        #expect(entry.percent == share)
    }
}
