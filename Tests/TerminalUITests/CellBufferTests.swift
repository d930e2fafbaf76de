import Media
@testable import TerminalUI
import TestSupport
import Testing

struct CellBufferTests {
    @Test func `half a wide character is never written or left`() {
        for (column, expected) in [(2, "a xb"), (1, "ax b")] {
            var buffer = CellBuffer(columns: 6, rows: 1)
            buffer.draw("a夜b", column: 0, row: 0)
            buffer.draw("x", column: column, row: 0)
            #expect(buffer.lines == [expected])
        }
    }

    @Test(
        arguments: [
            ("夜の音楽", 8, "夜の音楽"), ("夜の音楽", 7, "夜の音…"), ("夜の音楽", 6, "夜の…"),
            ("夜の音楽", 2, "…"), ("夜の音楽", 1, "…"), ("abc", 3, "abc"), ("abcd", 3, "ab…"),
            ("cafe\u{301} noir", 5, "cafe\u{301}…"), ("👩‍👩‍👧 family", 7, "👩‍👩‍👧…"), ("👩‍👩‍👧 family", 6, "…"),
            ("दुनिया", 4, "दुनि…"), ("दुनिया", 3, "दु…"), ("กำลังใจ", 5, "กำลัง…"), ("abc", 0, ""), ("", 5, ""),
        ] as [(String, Int, String)]
    )
    func `text is cut between characters`(text: String, limit: Int, expected: String) {
        #expect(SafeText(text).cut(toColumns: limit).string == expected)
    }

    @Test(
        arguments: [
            ("abc", 3), ("夜", 2), ("e\u{301}", 1), ("👍🏽", 4), ("👩‍👩‍👧", 6), ("🇩🇪", 2), ("\u{301}", 1),
            ("❤\u{FE0F}", 1), ("\u{200B}", 1), ("한글", 4),
        ] as [(String, Int)]
    )
    func `columns are counted by character`(text: String, columns: Int) {
        #expect(SafeText(text).columns == columns)
    }

    /// The columns are those of `wcwidth`, in which tmux and xterm draw.
    @Test(
        arguments: [
            ("दुनिया", 5), ("বাংলা গান", 9), ("தமிழ் பாடல்", 9), ("กำลังใจ", 6), ("မြန်မာ", 5), ("ខ្មែរ", 4), ("སྒྲུབས", 3),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}", 4), ("ﾊﾞﾝﾄﾞ", 5), ("か\u{3099}", 2),
            ("می\u{200C}خواهم", 7), ("👍🏽", 4), ("👩‍🚀", 4), ("👩🏽‍🤝‍👩🏻", 10),
            ("a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}", 1),
            ("◌\u{93F}", 2),
        ] as [(String, Int)]
    )
    func `every code point of a cluster is drawn`(text: String, columns: Int) {
        var buffer = CellBuffer(columns: 20, rows: 1)
        #expect(buffer.draw(SafeText(text), column: 0, row: 0) == columns)
        let drawn = buffer[row: 0].prefix(columns).map(\.text).joined()
        // Compared as Swift does, in which composed and decomposed forms are equal.
        #expect(drawn == text)
        #expect(SafeText(drawn).string == drawn && SafeText(text).cut(toColumns: columns).string == drawn)
    }

    @Test func `no cluster has more than eight marks, or is wider than a hostile text makes it`() {
        let marks = String(repeating: "\u{301}", count: 8)
        let chain = Array(repeating: "👩", count: 100).joined(separator: "\u{200D}")
        var longest = 0
        var text = ""
        TextCluster.forEach(in: SafeText("e" + marks + "\u{93E}" + marks + chain)) { cluster in
            longest = max(longest, cluster.text.unicodeScalars.count)
            text += cluster.text
            return true
        }
        #expect(longest <= 17)
        #expect(text.unicodeScalars.count { $0 == "👩" } == 100, "no character with columns is lost")
    }

    @Test func `drawing outside of the screen is cut`() {
        var buffer = CellBuffer(columns: 3, rows: 1)
        buffer.draw("夜夜夜", column: 0, row: 0)
        for (column, row) in [(3, 0), (0, 1), (-1, -1)] { buffer.draw("x", column: column, row: row) }
        buffer.lay(.selected, row: 7)
        buffer.clear(row: 7)
        #expect(buffer.lines == ["夜…"])
        #expect(CellBuffer(columns: -4, rows: 0).lines.isEmpty)
    }

    @Test func `a background reaches the edge of its row, and stays under what is drawn and cleared`() {
        var buffer = CellBuffer(columns: 5, rows: 2)
        buffer.draw("夜", column: 0, row: 0)
        buffer.lay(.selected, row: 0)
        buffer.draw("a", column: 1, row: 0, style: .error)
        buffer.restyle(column: 1, row: 0, style: .prompt)
        #expect(buffer[row: 0].allSatisfy { $0.ground == .selected })
        #expect(buffer[column: 1, row: 0].style == .prompt)
        buffer.clear(row: 0)
        #expect(buffer.lines[0].isEmpty && buffer[row: 0].allSatisfy { $0.ground == .selected })
        #expect(buffer[row: 1].allSatisfy { $0.ground == .plain })
        #expect(buffer.changedRows(since: CellBuffer(columns: 5, rows: 2)) == [0])
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `every row keeps its width, whatever is drawn over what`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words: [SafeText] = ["夜の音楽", "e\u{301}te", "plain", "👍🏽!", " ", "한", "दुनिया", "👩‍👩‍👧"]
        var buffer = CellBuffer(columns: 12, rows: 3)
        for _ in 0..<180 {
            buffer.draw(
                words.randomElement(using: &random) ?? "",
                column: Int.random(in: -1...12, using: &random),
                row: Int.random(in: -1...3, using: &random)
            )
            for row in 0..<3 {
                let cells = Array(buffer[row: row])
                #expect(cells.reduce(0) { $0 + $1.width } == 12)
                // The further columns of a wide character follow the first.
                for place in cells.indices where cells[place].width > 0 {
                    let end = cells[(place + 1)...].firstIndex { $0.width > 0 } ?? cells.count
                    #expect(end == place + cells[place].width)
                }
            }
        }
    }
}
