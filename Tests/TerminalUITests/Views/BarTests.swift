import Media
@testable import TerminalUI
import Testing

struct WaveformBarTests {
    /// Ten seconds of music in 1,000 bytes, all cached; its peaks rise from silence on.
    private static func player(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
        let format = AudioFormat(sampleRate: 1_600, channelCount: 1)
        var player = PlayerSnapshot()
        player.state = .playing
        player.duration = .seconds(10)
        player.load.length = 1_000
        player.load.stored = ByteRangeSet(0..<1_000)
        player.timeMap = TimeMap(duration: .seconds(10), audio: 0..<1_000)
        player.waveform = Waveform(duration: .seconds(10))
        let samples = (0..<16_000).map { Int16($0 / 1_000 * 2_048) }
        samples.withUnsafeBytes { player.waveform.add($0, of: format, at: 0) }
        change(&player)
        return player
    }

    private static func draw(_ player: PlayerSnapshot, rows: Int = 2, columns: Int = 16) -> [String] {
        var buffer = CellBuffer(columns: columns, rows: rows)
        BarView.draw(player, rows: 0..<rows, columns: 0..<columns, into: &buffer)
        return buffer.lines
    }

    @Test func `two rows show how loud the music is, and the position bright over both`() {
        #expect(Self.draw(Self.player { $0.state = .stopped }) == ["         ▁▂▃▄▅▆▇", "▁▁▂▃▄▅▆▇████████"])
        let playing = Self.draw(Self.player { $0.position = .seconds(5) })
        #expect(playing == ["        ▌▁▂▃▄▅▆▇", "▁▁▂▃▄▅▆▇▌███████"])
        #expect(Self.draw(Self.player { $0.state = .stopped }, rows: 1) == ["▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄"])
    }

    @Test func `only what was heard or is cached has a height, as far as it is known`() {
        let player = Self.player { player in
            player.state = .stopped
            player.load.stored = ByteRangeSet([0..<500, 750..<875])
            player.load.inFlight = [500..<600]
            player.heard = HeardSpans([.zero..<(.seconds(3))])
        }
        #expect(Self.draw(player) == ["            ▄▅", "▁▁▂▃▄▅▆▇▒▒··██··"])
        var buffer = CellBuffer(columns: 16, rows: 2)
        BarView.draw(player, rows: 0..<2, columns: 0..<16, into: &buffer)
        let styles = [Style](repeating: .played, count: 4) + [Style](repeating: .cached, count: 4)
        #expect(buffer[row: 1].prefix(8).map(\.style) == styles)
        let unknown = Self.player { player in
            player.state = .stopped
            player.waveform = Waveform()
        }
        #expect(Self.draw(unknown) == ["", "▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄"])
        let bytes = Self.player { player in
            player.state = .stopped
            player.timeMap = nil
        }
        #expect(Self.draw(bytes)[0].isEmpty, "a bar of bytes has no times")
    }

    @Test func `the legend is drawn where all of it fits`() {
        var state = screenState(sampleSnapshot(), columns: 120, rows: 24)
        #expect(state.screen[22].hasSuffix("· missing   ↓ 312 kB/s"), "the rate stands beside it")
        state.show { $0.load.inFlight = [] }
        #expect(state.screen[22].hasSuffix("█ heard  ▄ cached  ▒ on its way  · missing"))
        #expect(!screenState(sampleSnapshot(), columns: 80, rows: 24).screen[22].contains("heard"))
        #expect(!screenState(PlayerSnapshot(), columns: 120, rows: 24).screen[22].contains("heard"))
    }
}

struct BarPartTests {
    struct Row: Sendable {
        var length: Int64 = 100
        var stored: [ByteRange] = []
        var inFlight: [ByteRange] = []
        /// In seconds, of 100.
        var heard: [Range<Int>] = []
        var position = 0
        var expected: String
    }

    @Test(arguments: [
        Row(stored: [0..<60, 80..<90], heard: [0..<30], position: 30, expected: "===---..-."),
        Row(stored: [0..<60], inFlight: [60..<65], expected: "------+..."),
        Row(expected: ".........."),
        Row(stored: [0..<100], heard: [0..<100], position: 100, expected: "=========="),
        // What a seek has passed over was not heard, even if it is cached.
        Row(stored: [0..<70], heard: [0..<10, 50..<60], position: 60, expected: "=----=-..."),
        // What was heard stays heard, also behind the position and if it is not cached any more.
        Row(heard: [0..<10, 50..<60], position: 10, expected: "=....=...."),
        // One missing byte keeps a cell from being called cached.
        Row(stored: [0..<19], expected: "-........."),
        // The position's cell is heard once half of it is.
        Row(stored: [0..<16], heard: [0..<16], position: 16, expected: "==........"),
        Row(stored: [0..<14], heard: [0..<14], position: 14, expected: "=........."),
        // Fewer bytes than cells, and the most bytes.
        Row(length: 2, stored: [0..<1], expected: "-----....."),
        Row(length: .max, stored: [0..<Int64.max / 2], expected: "-----....."),
    ])
    func `a cell never shows more than is true`(row: Row) {
        let heard = row.heard.map { Duration.seconds($0.lowerBound)..<Duration.seconds($0.upperBound) }
        #expect(bar(row.length, row.stored, row.inFlight, heard, at: row.position) == row.expected)
    }

    @Test func `the bar shows time, so a picture in front of the music has no cell`() throws {
        // 1.2 MB of picture, then music of which the second half has three times as many bytes.
        let map = try #require(TimeMap(duration: .seconds(60), offsets: [1_200_000, 1_600_000, 2_800_000]))
        let bar = { (stored: [ByteRange], inFlight: [ByteRange], second: Int) in
            self.bar(2_800_128, stored, inFlight, [.zero..<(.seconds(second))], at: second, map: map)
        }
        #expect(bar([0..<1_200_000], [], 0) == "..........")
        #expect(bar([0..<1_600_000], [], 0) == "-----.....")
        #expect(bar([0..<1_600_000], [1_600_000..<1_900_000], 12) == "==---++...")
        #expect(bar([1_200_000..<2_800_000], [], 44) == "=======---")
        // The tag at the end has no cell either.
        #expect(bar([1_200_000..<2_800_000], [], 60) == "==========")
        #expect(self.bar(2_800_128, [0..<2_800_128], columns: 0, map: map).isEmpty)
    }

    @Test func `a map shows in each cell if all is cached, or if something is on its way`() {
        let map = { (stored: [ByteRange], inFlight: [ByteRange]) in
            RangeBar.parts(ByteRangeSet(stored), inFlight: inFlight, length: 100).map {
                Glyphs.unicode.map($0).string
            }
            .joined()
        }
        #expect(map([0..<25, 90..<100], [30..<31]) == "━━┈╍┈┈┈┈┈━")
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
        #expect(bar(length, at: 5, columns: columns).isEmpty)
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
        _ heard: [Range<Duration>] = [],
        at second: Int = 0,
        columns: Int = 10,
        map: TimeMap? = nil
    ) -> String {
        var player = PlayerSnapshot()
        player.load.length = length
        player.load.stored = ByteRangeSet(stored)
        player.load.inFlight = inFlight
        player.heard = HeardSpans(heard)
        player.position = .seconds(second)
        player.duration = .seconds(100)
        player.timeMap = map
        return BarPart.parts(of: player, columns: columns).map { Glyphs.ascii.bar($0).string }.joined()
    }
}
