import Media
@testable import TerminalUI
import Testing

struct BarPartTests {
    struct Row: Sendable {
        var length: Int64 = 100
        var stored: [ByteRange] = []
        var inFlight: [ByteRange] = []
        var head: Int64? = nil
        var expected: String
    }

    @Test(arguments: [
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
        // Fewer bytes than cells, and the most bytes.
        Row(length: 2, stored: [0..<1], expected: "-----....."),
        Row(length: .max, stored: [0..<Int64.max / 2], head: .max, expected: "=====....."),
    ])
    func `a cell never shows more than is true`(row: Row) {
        #expect(bar(row.length, row.stored, row.inFlight, head: row.head) == row.expected)
    }

    @Test func `the bar shows time, so a picture in front of the music has no cell`() throws {
        // 1.2 MB of picture, then music of which the second half has three times as many bytes.
        let map = try #require(TimeMap(duration: .seconds(60), offsets: [1_200_000, 1_600_000, 2_800_000]))
        let bar = { (stored: [ByteRange], inFlight: [ByteRange], head: Int64) in
            self.bar(2_800_128, stored, inFlight, head: head, map: map)
        }
        #expect(bar([0..<1_200_000], [], 1_200_000) == "..........")
        #expect(bar([0..<1_600_000], [], 1_200_000) == "-----.....")
        #expect(bar([0..<1_600_000], [1_600_000..<1_900_000], 1_360_000) == "==---++...")
        #expect(bar([1_200_000..<2_800_000], [], 2_190_000) == "=======---")
        // The tag at the end has no cell either.
        #expect(bar([1_200_000..<2_800_000], [], 2_800_000) == "==========")
        #expect(self.bar(2_800_128, [0..<2_800_128], head: 0, columns: 0, map: map).isEmpty)
    }

    @Test func `the position is shown by its time`() throws {
        var player = sampleSnapshot()
        player.timeMap = TimeMap(duration: .seconds(60), offsets: [1_200_000, 1_600_000, 2_800_000])
        for (seconds, column) in [(0, 0), (29, 4), (30, 5), (59, 9), (60, 9)] {
            player.position = .seconds(seconds)
            #expect(BarPart.headColumn(of: player, columns: 10) == column)
        }
    }

    @Test func `chapters have ticks where they begin, unless they would fill more than half of the bar`() {
        var player = sampleSnapshot()
        player.timeMap = TimeMap(duration: .seconds(100), audio: 0..<1_000)
        player.info = StreamInfo(
            format: AudioFormat(sampleRate: 44_100, channelCount: 2),
            bytesPerSecond: 10
        )
        let ticks = { (starts: [Int]) -> [Int: Duration] in
            player.info?.chapters = ChapterList(starts.map { Chapter(start: .seconds($0), title: "") })
            return ChapterTicks.starts(in: player, columns: 10)
        }
        #expect(ticks([]) == [:])
        // The start of the bar, a second chapter in one cell, and those behind the end have none.
        #expect(ticks([0, 12, 15, 99]) == [1: .seconds(12), 9: .seconds(99)])
        #expect(ticks([5, 40, 100, 200]) == [4: .seconds(40)])
        #expect(ticks([0, 10, 20, 30, 40]).count == 4)
        #expect(ticks([0, 10, 20, 30, 40, 50]) == [:])
        // A click on a tick leads to the start of the chapter.
        _ = ticks([0, 12])
        player.duration = .seconds(100)
        #expect(BarPart.seekTarget(at: 1, columns: 10, of: player) == .to(.seconds(12)))
        player.timeMap = nil
        #expect(ticks([0, 50]) == [:])
    }

    @Test(arguments: [(nil, 10), (0, 10), (-1, 10), (100, 0), (100, -3)] as [(Int64?, Int)])
    func `without a length or room there is no bar`(length: Int64?, columns: Int) {
        #expect(bar(length, head: 5, columns: columns).isEmpty)
    }

    @Test func `in each set of glyphs the four parts and the position differ without colour`() {
        for glyphs in [Glyphs.unicode, .ascii] {
            let parts: [BarPart] = [.played, .cached, .inFlight, .missing]
            #expect(
                Set(parts.map { glyphs.bar($0).string } + [glyphs.head.string, glyphs.tick.string]).count == 6
            )
            #expect(glyphs.tick.columns == 1)
            #expect(glyphs.head.columns == 1 && glyphs.mark.columns == 1 && glyphs.pin.columns == 1)
            #expect(parts.allSatisfy { glyphs.bar($0).columns == 1 })
        }
    }

    private func bar(
        _ length: Int64?,
        _ stored: [ByteRange] = [],
        _ inFlight: [ByteRange] = [],
        head: Int64?,
        columns: Int = 10,
        map: TimeMap? = nil
    ) -> String {
        var load = LoadReport()
        load.length = length
        load.stored = ByteRangeSet(stored)
        load.inFlight = inFlight
        return BarPart.parts(of: load, map: map, head: head, columns: columns).map {
            Glyphs.ascii.bar($0).string
        }
        .joined()
    }
}
