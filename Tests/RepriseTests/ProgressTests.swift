@testable import Media
import TerminalUI
import TestSupport
import Testing

@testable import Reprise

@Suite
struct ProgressTests {
    private func line(
        _ columns: Int,
        label: SafeText = "Étude",
        done: Int64 = 500_000,
        total: Int64? = 1_000_000,
        note: SafeText = "1.2 MB/s",
        glyphs: Glyphs = .unicode
    ) -> String {
        ProgressBar.line(
            label: label,
            done: done,
            total: total,
            note: note,
            style: TextStyle(columns: columns, glyphs: glyphs)
        )
    }

    @Test func `a progress line is label, bar, share and note`() {
        #expect(line(80) == "Étude                      ███████████████···············  50 %  1.2 MB/s")
        let ascii = line(80, glyphs: .ascii)
        #expect(ascii == "?tude                      ###############...............  50 %  1.2 MB/s")
        #expect(line(80, done: 999_999).contains("  99 %"))
        #expect(line(80, done: 1_000_000).contains(" 100 %"))
        #expect(line(80, total: 0).contains(" 100 %"))
        #expect(line(80, total: nil) == "Étude                      500 kB  1.2 MB/s")
    }

    @Test func `in a narrow terminal the bar shrinks, then goes, then the label is cut`() {
        #expect(line(50) == "Étude            ████████·········  50 %  1.2 MB/s")
        #expect(line(24) == "Étude     50 %  1.2 MB/s")
        #expect(line(20, label: "A long label") == "A l…  50 %  1.2 MB/s")
    }

    @Test(arguments: 1...120)
    func `no progress line is wider than the terminal`(columns: Int) {
        for label in ["x", "夜の音楽 – 長い長い題名がここに続く"] as [SafeText] {
            #expect(SafeText(line(columns, label: label)).columns <= columns)
            #expect(SafeText(line(columns, label: label, total: nil)).columns <= columns)
        }
    }

    @Test func `a frame is drawn over the last one and leaves nothing behind`() {
        let put = Printed()
        let painter = ProgressPainter(style: TextStyle(columns: 20), clock: TestClock()) { put.append($0) }
        for lines in [["a", "b"], ["a", "b"], ["c"]] { painter.show(lines, isLast: true) }
        #expect(put.all == ["a\nb\n", "\u{1B}[2A\r\u{1B}[Jc\n"])
        for _ in 1...2 { painter.finish() }
        #expect(put.all.dropFirst(2) == ["\u{1B}[1A\r\u{1B}[J"])
    }

    @Test func `progress is drawn at its rhythm, and lines are written above it`() async throws {
        let clock = TestClock()
        let put = Printed()
        let painter = ProgressPainter(style: TextStyle(columns: 20), clock: clock) { put.append($0) }
        #expect(painter.style.columns == 19)
        painter.show(["1"])
        painter.show(["2"])
        #expect(put.all == ["1\n"])
        clock.advance(by: ProgressPainter.rhythm)
        painter.show(["3"])
        #expect(put.all == ["1\n", "\u{1B}[1A\r\u{1B}[J3\n"])
        painter.above { put.append("line\n") }
        #expect(put.all.suffix(3) == ["\u{1B}[1A\r\u{1B}[J", "line\n", "3\n"])
        painter.finish()
        #expect(put.all.last == "\u{1B}[1A\r\u{1B}[J")
        painter.above { put.append("after\n") }
        #expect(put.all.last == "after\n")
    }

    @Test func `the totals of a fetch count tracks and bytes, and estimate the time left`() {
        var totals = FetchTotals(trackCount: 10)
        #expect(totals.text == "0 of 10 tracks done, 0 B downloaded")
        // Two tracks of 4 MB are done, one of which was cached before.
        let entry = CachedItem(url: "s", stored: ByteRangeSet(0..<4_000_000), lastPlayed: 0)
        for fetched in [4_000_000, 0] as [Int64] {
            totals.endedBytes += fetched
            totals.count(.cached(entry, fetched: fetched))
        }
        totals.count(.failed(MediaError(.offline, "s", "c")))
        #expect(totals.text == "3 of 10 tracks done, 4.0 MB downloaded")
        // A track is a list of three; another one of a track that was counted already.
        for count in [3, 0] { totals.listFound(of: count) }
        #expect(totals.text == "3 of 11 tracks done, 4.0 MB downloaded")
        totals.listFound(of: 0)
        var report = LoadReport()
        report.length = 4_000_000
        report.fetchedBytes = 1_000_000
        report.bytesPerSecond = 500_000
        report.stored = ByteRangeSet(0..<1_000_000)
        totals.running = [report, report]
        // 2 * 3 MB, and 5 tracks of 4 MB, at 1 MB/s.
        #expect(totals.text == "3 of 10 tracks done, 6.0 MB downloaded, about 0:26 left")
        #expect(totals.stoppedText == "Stopped at 2 of 10 tracks, 6.0 MB downloaded – run it again to go on")
    }

    @Test func `the line of a download has its rate, or that it is reconnecting`() {
        var report = LoadReport()
        report.length = 100
        report.stored = ByteRangeSet(0..<25)
        report.bytesPerSecond = 1_200_000
        let style = TextStyle(columns: 60)
        #expect(FetchProgress.line("a", report, style: style).hasSuffix("  25 %  1.2 MB/s"))
        report.wait = LoadWait(
            error: MediaError(.timedOut, "a", "no answer"),
            attempt: 1,
            mostAttempts: 5,
            retryAt: .seconds(1)
        )
        #expect(FetchProgress.line("a", report, style: style).hasSuffix("  25 %  reconnecting"))
        report.bytesPerSecond = nil
        var totals = FetchTotals(trackCount: 1)
        totals.running = [report]
        #expect(totals.noteText == "0 of 1 track done, 0 B downloaded · retrying: no answer")
    }

    @Test func `without a terminal the totals are noted every half a minute`() async throws {
        let clock = TestClock()
        let notes = Printed()
        let progress = FetchProgress(painter: nil, total: 2)
        let noting = Task { await progress.noteOn(clock) { notes.append($0.string) } }
        for count in 1...2 {
            try await wait(for: "the pause") { clock.sleeperCount == 1 }
            clock.advance(by: FetchProgress.noteRhythm)
            try await wait(for: "the note") { notes.all.count == count }
        }
        #expect(notes.all == Array(repeating: "0 of 2 tracks done, 0 B downloaded", count: 2))
        noting.cancel()
        await noting.value
    }
}
