import Testing

@testable import Benchmarks

struct FigureTableTests {
    private static func table() -> FigureTable {
        var table = FigureTable()
        table.begin("Sound")
        for value in [12.0, 10, 11] { table.add("cold", .milliseconds, value, of: .reprise) }
        for value in [21.0, 20, 22] { table.add("cold", .milliseconds, value, of: .mpv) }
        for value in [44.0, 44, 44] { table.add("cold", .milliseconds, value, of: .mpd) }
        return table
    }

    @Test func `the ratio is that of the medians, to the best of the others`() throws {
        let figure = try #require(Self.table().figures.first)
        #expect(figure.bestPeer?.name == "mpv")
        #expect(figure.bestPeer?.median == 21)
        #expect(figure.ratio == 11.0 / 21)
    }

    @Test func `a goal of so many times a peer's value is reached or missed by the median`() throws {
        var table = Self.table()
        #expect(table.figures[0].isReached == nil)
        table.limit("cold", to: table.median("cold", of: .mpv).map { $0 / 2 }, goal: "≤ half of mpv")
        #expect(table.figures[0].isReached == false && table.figures[0].goal == "≤ half of mpv")
        table.limit("cold", to: table.median("cold", of: .mpd).map { $0 / 4 }, goal: "≤ a quarter of mpd")
        #expect(table.figures[0].isReached == true)
    }

    @Test func `values of one name in one section are one figure, and sections stay together`() {
        var table = Self.table()
        table.begin("Bytes")
        table.add("whole", .megabytes, 7.2)
        table.begin("Sound")
        table.add("again", .milliseconds, 5)
        #expect(table.figures.map(\.name) == ["cold", "again", "whole"])
        #expect(table.figures[0].values["reprise"] == [12, 10, 11])
    }

    @Test func `the text has a row for each figure, with medians, spreads, the ratio and what was missed`() {
        var table = Self.table()
        table.add("cold", .milliseconds, nil, of: .mpg123, absent: "silent")
        table.add("cold", .milliseconds, nil, atMost: 10)
        table.skip("ffplay, because it is not installed")
        let text = MarkdownTable(table: table, players: [.reprise, .mpg123, .mpv, .mpd]).text
        #expect(
            text == """
                | Sound | reprise             | mpv                 | mpd     | × best peer | goal               |
                |-------|---------------------|---------------------|---------|-------------|--------------------|
                | cold  | 11.0 ms (10.0–12.0) | 21.0 ms (20.0–22.0) | 44.0 ms | 0.52        | ≤ 10 ms **missed** |

                Not measured: ffplay, because it is not installed.
                """
        )
    }
}

struct BenchmarkDocumentTests {
    @Test func `the document names the day, the machine and the command, and ends with the tables`() {
        let document = BenchmarkDocument(
            tables: "| a |",
            date: "2026-01-02",
            machine: "2 × processor",
            target: "bench-quick"
        )
        let command = "`make bench-quick BENCH=\"--report docs/benchmarks.md\"` on 2026-01-02"
        #expect(
            document.text.hasPrefix(
                "# Benchmarks\n\nWritten by \(command); release build on 2 × processor.\n"
            )
        )
        #expect(document.text.hasSuffix("\n\n| a |\n"))
    }
}

struct StatisticsTests {
    @Test(
        arguments: [
            (values: [3.0, 1, 2], median: 2.0, least: 1.0, most: 3.0),
            (values: [4, 1, 3, 2], median: 2, least: 1, most: 4),
            (values: [5], median: 5, least: 5, most: 5),
        ] as [(values: [Double], median: Double, least: Double, most: Double)]
    )
    func `the median is a value that was measured, between the least and the most`(
        values: [Double],
        median: Double,
        least: Double,
        most: Double
    ) throws {
        let statistics = try #require(Statistics(values))
        #expect(statistics.median == median)
        #expect(statistics.least == least)
        #expect(statistics.most == most)
    }

    @Test func `no values have no median`() { #expect(Statistics([]) == nil) }
}
