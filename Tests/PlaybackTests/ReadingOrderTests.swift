import Media
import TestSupport
import Testing

@testable import Playback

/// The order in which sources are read, and their tracks passed on.
@Suite struct ReadingOrderTests {
    private func order(_ pace: ReadingOrder.Pace, _ sources: String...) -> ReadingOrder {
        var order = ReadingOrder(pace)
        for source in sources { order.add(source) }
        _ = order.begin(at: .zero)
        return order
    }

    private func tracks(_ numbers: Int...) -> ResolvedTracks { ResolvedTracks(tracks: numbered(numbers)) }

    /// `1 2.` for the last part, `1 2` for another, `?name 2` for an awaited source.
    private func take(_ order: inout ReadingOrder, at seconds: Int) -> [String] {
        order.outputs(at: .seconds(seconds)).map { output in
            switch output {
            case .part(let part, let isLast, _):
                part.tracks.map { "\($0.id.value)" }.joined(separator: " ") + (isLast ? "." : "")
            case .awaits(let name, let count): "?\(name?.string ?? "") \(count)"
            }
        }
    }

    // MARK: The sources of the command line

    @Test func `tracks behind the first unread source wait for it, and join in their place`() {
        var order = order(.inParts, "a", "http://x/dead.m3u", "c")
        for (number, part) in [(2, tracks(5)), (0, tracks(1, 2))] {
            order.found(number, part)
            order.ended(number, nil)
        }
        #expect(take(&order, at: 1).isEmpty && order.due(after: .seconds(1)) == .seconds(2))
        #expect(take(&order, at: 2) == ["1 2", "?dead.m3u 3"])
        #expect(order.due(after: .seconds(2)) == nil)
        order.found(1, tracks(3, 4))
        order.ended(1, nil)
        #expect(take(&order, at: 30) == ["3 4 5.", "? 5"])
    }

    @Test func `a source that fails gives way to those behind it, with its problem`() {
        var order = order(.inParts, "dead", "good")
        order.found(1, tracks(1))
        order.ended(1, nil)
        #expect(take(&order, at: 9) == ["?dead 1"])
        let problem = MediaError(.timedOut, "dead", "silent")
        order.ended(0, problem)
        let last = ResolvedTracks(tracks: numbered([1]), problems: [problem])
        #expect(order.outputs(at: .seconds(9)) == [.part(last, isLast: true), .awaits(nil, tracks: 1)])
        #expect(order.outputs(at: .seconds(9)).isEmpty)
    }

    @Test func `what is read plays at once if the awaited source is passed over, which then comes last`() {
        var order = order(.inParts, "dead", "dead too", "good", "slow", "last")
        order.found(2, tracks(3))
        order.ended(2, nil)
        order.found(3, tracks(4))
        order.ended(3, nil)
        #expect(take(&order, at: 1).isEmpty)
        order.passOver()
        #expect(take(&order, at: 1) == ["3 4"])
        order.found(1, tracks(2))
        #expect(take(&order, at: 2) == ["?dead 3"])
        #expect(take(&order, at: 3) == ["2"])
        order.ended(1, nil)
        order.ended(0, nil)
        #expect(order.begin(at: .seconds(3)).map(\.source) == ["last"])
        #expect(take(&order, at: 5) == ["?last 3"])
        order.found(4, tracks(5))
        order.ended(4, nil)
        #expect(take(&order, at: 5) == ["5.", "? 4"])
    }

    @Test func `if nothing is read when a source is passed over, the first tracks that come play`() {
        var order = order(.inParts, "dead", "later")
        order.passOver()
        #expect(take(&order, at: 3) == ["?dead 0"])
        order.found(1, tracks(2))
        #expect(take(&order, at: 3) == ["2"])
    }

    @Test func `if all tracks are awaited, nothing is passed on until all are read or one is passed over`() {
        for passesOver in [false, true] {
            var order = order(.atOnce, "a", "dead")
            order.found(0, tracks(1))
            order.ended(0, nil)
            #expect(take(&order, at: 5) == ["?dead 1"])
            if passesOver {
                order.passOver()
                #expect(take(&order, at: 5) == ["1"])
            }
            order.ended(1, nil)
            #expect(take(&order, at: 6) == [passesOver ? "." : "1.", "? 1"])
        }
    }

    @Test func `the tracks of the last session come first, and without sources they are all`() {
        var order = ReadingOrder(.inParts, tracks: numbered([7]))
        #expect(take(&order, at: 0) == ["7."])
        order = ReadingOrder(.inParts, tracks: numbered([7]))
        order.add("a")
        _ = order.begin(at: .zero)
        #expect(take(&order, at: 2) == ["7", "?a 1"])
    }

    // MARK: Additions

    @Test func `additions that are read keep their order, and a slow one does not hold up the others`() {
        var order = order(.singly, "a", "b", "c")
        order.found(1, tracks(2))
        order.ended(1, nil)
        #expect(take(&order, at: 1).isEmpty)
        #expect(take(&order, at: 2) == ["2.", "?a 1"])
        order.found(2, tracks(3))
        #expect(take(&order, at: 2) == ["3"])
        order.found(0, tracks(1))
        order.ended(0, nil)
        order.ended(2, nil)
        #expect(take(&order, at: 3) == ["1.", ".", "? 3"])
    }

    @Test func `a long addition comes in parts every two seconds`() {
        var order = order(.singly, "folder")
        order.found(0, tracks(1))
        #expect(take(&order, at: 1).isEmpty && take(&order, at: 2) == ["1", "?folder 1"])
        order.found(0, tracks(2))
        #expect(take(&order, at: 3).isEmpty && order.due(after: .seconds(3)) == .seconds(4))
        #expect(take(&order, at: 4) == ["2", "?folder 2"])
        order.ended(0, nil)
        #expect(take(&order, at: 5) == [".", "? 2"])
    }

    // MARK: Bounds

    @Test func `four sources are read at a time, and more, up to sixteen, while some take long`() {
        var order = ReadingOrder(.singly)
        for number in 0..<30 { order.add("\(number)") }
        #expect(order.begin(at: .zero).map(\.source) == ["0", "1", "2", "3"])
        order.ended(2, nil)
        #expect(order.begin(at: .seconds(1)).map(\.number) == [4])
        #expect(order.begin(at: .seconds(2)).map(\.number) == [5, 6, 7])
        #expect(order.begin(at: .seconds(3)).map(\.number) == [8])
        #expect((4...9).flatMap { order.begin(at: .seconds($0)) }.count == 8)
        #expect(order.begin(at: .seconds(99)).isEmpty)
        order.ended(0, nil)
        #expect(order.begin(at: .seconds(99)).map(\.number) == [17])
    }

    @Test func `sources that were not begun are left out once reading is stopped`() {
        var order = order(.singly, "a", "b", "c", "d", "e", "f")
        #expect(take(&order, at: 2) == ["?a 0"])
        #expect(order.stop(at: .seconds(2)) == 2)
        // What is cancelled is not awaited, and those that were not begun are over.
        #expect(take(&order, at: 3) == [".", ".", "? 0"])
        for number in 0..<4 { order.ended(number, nil) }
        #expect(take(&order, at: 3) == Array(repeating: ".", count: 4))
        #expect(order.begin(at: .seconds(3)).isEmpty)
        order.add("g")
        #expect(order.begin(at: .seconds(3)).map(\.source) == ["g"])
        #expect(take(&order, at: 5) == ["?g 0"])
    }

    @Test(arguments: [ReadingOrder.Pace.inParts, .atOnce, .singly])
    func `a source that goes on although it is cancelled counts as read two seconds later`(
        pace: ReadingOrder.Pace
    ) {
        var order = order(pace, "-", "list")
        order.found(1, tracks(2))
        order.ended(1, nil)
        order.found(0, tracks(1))
        #expect(order.stop(at: .seconds(1)) == 0)
        #expect(take(&order, at: 1).isEmpty && order.due(after: .seconds(1)) == .seconds(2))
        // A further stop does not defer it.
        #expect(order.stop(at: .seconds(2)) == 0)
        let early = pace == .inParts ? ["1"] : pace == .singly ? ["1", "2."] : []
        #expect(take(&order, at: 2) == early && order.due(after: .seconds(2)) == .seconds(3))
        #expect(take(&order, at: 3) == (pace == .inParts ? ["2."] : pace == .singly ? ["."] : ["1 2."]))
        order.found(0, tracks(3))
        order.ended(0, nil)
        #expect(take(&order, at: 9).isEmpty && order.due(after: .seconds(9)) == nil)
    }

    @Test(arguments: [
        ("https://user:secret@host/music/list.m3u?key=secret", "list.m3u"),
        ("https://u:secret@host/", "host"),
        ("/home/u/Music/", "Music"), ("-", "standard input"), ("a\u{1B}b", "a\u{FFFD}b"),
    ])
    func `a source has the name that the queue would show`(source: String, name: SafeText) {
        #expect(ReadingOrder.name(of: source) == name)
    }

    /// Random events against what must hold of any of them.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every track is passed on once, and in order unless its source was passed over`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pace: ReadingOrder.Pace = [.inParts, .atOnce, .singly][Int(seed % 3)]
        var order = ReadingOrder(pace)
        let count = Int.random(in: 1...24, using: &random)
        for number in 0..<count { order.add("\(number)") }
        var reading = [Int]()
        var given = [Int]()
        var passed = false
        var ends = 0
        var now = Duration.zero
        var made = 0
        repeat {
            reading += order.begin(at: now).map(\.number)
            #expect(reading.count <= ReadingOrder.mostInAll)
            let number = reading.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<6, using: &random) {
            case 0...1:
                order.found(number, tracks(number * 100 + made % 100))
                made += 1
            case 2...3:
                order.ended(number, nil)
                reading.removeAll { $0 == number }
            case 4 where pace != .singly && Int.random(in: 0..<20, using: &random) == 0:
                order.passOver()
                passed = true
            default:
                let due = order.due(after: now)
                #expect(due.map { $0 > now } ?? true)
                now = due ?? now + .milliseconds(100)
            }
            for case .part(let part, let isLast, _) in order.outputs(at: now) {
                given += part.tracks.map { Int($0.id.value) }
                ends += isLast ? 1 : 0
            }
        } while !reading.isEmpty
        #expect(given.count == made && ends == (pace == .singly ? count : 1))
        // Of one source, tracks keep their order by being made in it; only sources are compared.
        let sources = given.map { $0 / 100 }
        #expect(passed || pace == .singly || sources == sources.sorted())
    }
}
