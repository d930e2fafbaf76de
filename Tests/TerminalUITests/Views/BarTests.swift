import Media
import TerminalUI
import Testing

struct BarPartTests {
    struct Row: Sendable {
        var stored: [ByteRange] = []
        var inFlight: [ByteRange] = []
        var head: Int64? = nil
        var expected: String
    }

    @Test(
        arguments: [
            Row(stored: [0..<60, 80..<90], head: 30, expected: "===---..-."),
            Row(stored: [0..<60], inFlight: [60..<65], head: 0, expected: "------+..."),
            Row(expected: ".........."),
            Row(stored: [0..<100], head: 100, expected: "=========="),
            // A seek leaves a gap behind the position: it was not played.
            Row(stored: [0..<10, 50..<70], head: 60, expected: "=....=-..."),
            // One missing byte keeps a cell from being called cached.
            Row(stored: [0..<19], expected: "-........."),
            // The position's cell is played once half of it is played and stored.
            Row(stored: [0..<16], head: 16, expected: "==........"),
            Row(stored: [0..<14], head: 14, expected: "=........."),
            Row(stored: [0..<100], head: 500, expected: "=========="),
            Row(stored: [0..<100], head: -5, expected: "----------"),
        ]
    )
    func `a cell never shows more than is true`(row: Row) {
        var load = LoadReport()
        load.length = 100
        load.stored = ByteRangeSet(row.stored)
        load.inFlight = row.inFlight
        #expect(bar(load, head: row.head, columns: 10) == row.expected)
    }

    @Test func `fewer bytes than cells fill the bar all the same`() {
        var load = LoadReport()
        load.length = 2
        load.stored = ByteRangeSet([0..<1])
        #expect(bar(load, head: nil, columns: 6) == "---...")
    }

    @Test(arguments: [(nil, 10), (0, 10), (-1, 10), (100, 0), (100, -3)] as [(Int64?, Int)])
    func `without a length or room there is no bar`(length: Int64?, columns: Int) {
        var load = LoadReport()
        load.length = length
        #expect(bar(load, head: 5, columns: columns).isEmpty)
    }

    @Test func `the largest length overflows nothing`() {
        var load = LoadReport()
        load.length = .max
        load.stored = ByteRangeSet([0..<Int64.max / 2])
        #expect(bar(load, head: .max, columns: 4) == "==..")
    }

    @Test func `in each set of glyphs the four parts and the position differ without colour`() {
        for glyphs in [Glyphs.unicode, .ascii] {
            let parts: [BarPart] = [.played, .cached, .inFlight, .missing]
            #expect(Set(parts.map { glyphs.bar($0).string } + [glyphs.head.string]).count == 5)
            #expect(glyphs.head.columns == 1 && glyphs.mark.columns == 1 && glyphs.pin.columns == 1)
            #expect(parts.allSatisfy { glyphs.bar($0).columns == 1 })
        }
    }

    private func bar(_ load: LoadReport, head: Int64?, columns: Int) -> String {
        BarPart.parts(of: load, head: head, columns: columns).map { Glyphs.ascii.bar($0).string }.joined()
    }
}
