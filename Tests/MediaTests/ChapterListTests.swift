import Media
import Testing

struct ChapterListTests {
    private func list(_ starts: [Int]) -> ChapterList {
        ChapterList(starts.enumerated().map { Chapter(start: .seconds($0.element), title: "T\($0.offset)") })
    }

    @Test func `chapters are sorted, and those without a start of their own are dropped`() {
        let sorted = list([40, 0, 20, 20, -3, 2_000_000])
        #expect(sorted.chapters.map(\.start) == [0, 20, 40].map { .seconds($0) })
        #expect(sorted.chapters.map(\.title) == ["T1", "T2", "T0"])
        #expect(list([]).isEmpty && list([-1]).isEmpty)
        #expect(list(Array(0..<5_000)).count == ChapterList.mostChapters)
    }

    @Test func `a title is bounded and safe`() {
        let title = Chapter(start: .zero, title: "\u{1B}[2J" + String(repeating: "a", count: 5_000)).title
        #expect(title.string.count <= 200 && !title.string.contains("\u{1B}"))
    }

    @Test(
        arguments: [
            (0, nil), (9, nil), (10, 1), (29, 1), (30, 2), (1_000, 2),
        ] as [(Int, Int?)]
    )
    func `a position belongs to the chapter that began last`(second: Int, number: Int?) {
        #expect(list([10, 30]).number(at: .seconds(second)) == number)
        // A seek to a chapter may land a frame before its start.
        #expect(list([10, 30]).number(at: .seconds(second) - .milliseconds(20)) == number)
    }

    @Test(
        arguments: [
            (.next, 0, 1), (.next, 10, 2), (.next, 29, 2), (.next, 30, 3), (.next, 60, nil),
            // Within three seconds of its start, the one before.
            (.previous, 32, 1), (.previous, 34, 2), (.previous, 70, 3), (.previous, 11, 1), (.previous, 2, 1),
            (.number(3), 0, 3), (.number(4), 0, nil), (.number(0), 0, nil), (.number(.max), 0, nil),
        ] as [(ChapterTarget, Int, Int?)]
    )
    func `a target leads to a chapter, or to none`(target: ChapterTarget, second: Int, number: Int?) {
        #expect(list([10, 30, 60]).number(of: target, from: .seconds(second)) == number)
        #expect(ChapterList().number(of: target, from: .seconds(second)) == nil)
    }

    @Test func `a chapter is named by its number and title`() {
        let list = ChapterList([
            Chapter(start: .zero, title: "Start"), Chapter(start: .seconds(5), title: ""),
        ])
        #expect(list.name(of: 1) == "1 of 2: Start" && list.name(of: 2) == "2 of 2")
        #expect(list.refusal(of: .number(9)) == "No chapter 9 (there are 2)")
        #expect(list.refusal(of: .next) == "No next chapter (this is the last of 2)")
    }

    @Test(
        arguments: [
            ("next", .next), ("previous", .previous), ("12", .number(12)), ("0", nil), ("-1", nil), ("", nil),
            ("last", nil), ("99999999999999999999", nil),
        ] as [(String, ChapterTarget?)]
    )
    func `a target is a word or a number`(text: String, target: ChapterTarget?) {
        #expect(ChapterTarget(parsing: text) == target)
    }
}
