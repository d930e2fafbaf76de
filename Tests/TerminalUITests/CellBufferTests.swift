import Media
import TerminalUI
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
            ("cafe\u{301} noir", 5, "cafe\u{301}…"), ("👩‍👩‍👧 family", 4, "👩 …"), ("abc", 0, ""), ("", 5, ""),
        ] as [(String, Int, String)]
    )
    func `text is cut between characters`(text: String, limit: Int, expected: String) {
        #expect(SafeText(text).cut(toColumns: limit).string == expected)
    }

    @Test(
        arguments: [
            ("abc", 3), ("夜", 2), ("e\u{301}", 1), ("👍🏽", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("\u{301}", 1),
            ("❤\u{FE0F}", 1), ("\u{200B}", 1), ("한글", 4),
        ] as [(String, Int)]
    )
    func `columns are counted by character`(text: String, columns: Int) {
        #expect(SafeText(text).columns == columns)
    }

    @Test func `drawing outside of the screen is cut`() {
        var buffer = CellBuffer(columns: 3, rows: 1)
        buffer.draw("夜夜夜", column: 0, row: 0)
        for (column, row) in [(3, 0), (0, 1), (-1, -1)] { buffer.draw("x", column: column, row: row) }
        buffer.fill(row: 7, style: .selected)
        #expect(buffer.lines == ["夜…"])
        #expect(CellBuffer(columns: -4, rows: 0).lines.isEmpty)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `every row keeps its width, whatever is drawn over what`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words: [SafeText] = ["夜の音楽", "e\u{301}te", "plain", "👍🏽!", " ", "한"]
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
                // The second half of a wide character follows the first.
                for place in cells.indices where cells[place].width == 0 {
                    #expect(place > 0 && cells[place - 1].width == 2)
                }
            }
        }
    }
}
