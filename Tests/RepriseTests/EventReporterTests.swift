import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite
struct EventReporterTests {
    private let pipe = PipeEnds()
    private let clock = TestClock()

    private func reporter(_ style: Presentation = .words) -> EventReporter {
        EventReporter(style: style, clock: clock, descriptor: pipe.writing, onReaderGone: {})
    }

    private func readLines(_ count: Int) async -> [Substring] {
        let reading = WorkThread(name: "reader")
        defer { reading.stop() }
        return await reading.run { [pipe] in pipe.readLines(count: count) }
    }

    @Test func `events are written in order with the time at which they were reported`() async {
        let reporter = reporter(.json)
        reporter.report(.loaded(tracks: 1))
        clock.advance(by: .milliseconds(250))
        reporter.report(.buffering(index: 1, position: .zero))
        await reporter.finish()
        #expect(
            pipe.receive() == """
                {"event":"loaded","t":0,"tracks":1}
                {"event":"buffering","t":0.25,"index":1,"position":0}

                """
        )
    }

    @Test func `a closed reader is reported once`() async {
        var ends: [Int32] = [-1, -1]
        signal(SIGPIPE, SIG_IGN)
        #expect(Glibc.pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let reports = Locked(0)
        let reporter = EventReporter(style: .words, clock: TestClock(), descriptor: ends[1]) {
            reports.withLock { $0 += 1 }
        }
        for _ in 0..<3 { reporter.report(.loaded(tracks: 1)) }
        await reporter.finish()
        #expect(reports.withLock { $0 } == 1)
    }

    @Test func `reporting never waits for a reader that does not read`() async throws {
        let reporter = reporter()
        // Far more than the pipe holds: a report that wrote by itself would hang here.
        for index in 1...20_000 { reporter.report(.buffering(index: index, position: .zero)) }
        async let finished: Void = reporter.finish()
        let lines = await readLines(20_000)
        await finished
        #expect(lines.last == "buffering index=20000 position=0 t=0")
    }

    @Test(arguments: [
        (PlayerCommand.status, EventReporter.mostUnanswered), (.list, EventReporter.mostLists),
    ])
    func `a script waits while a thousand of its answers or four lists are not read, and an event does not`(
        command: PlayerCommand,
        most: Int
    ) async throws {
        let reporter = reporter()
        // Fills the pipe, so that what follows stays unwritten.
        for index in 1...5_000 { reporter.report(.buffering(index: index, position: .zero)) }
        let script = WorkThread(name: "script")
        defer { script.stop() }
        let taken = Locked(0)
        script.submit {
            for _ in 0..<most + 3 {
                reporter.announce(command)
                taken.withLock { $0 += 1 }
            }
        }
        try await wait(for: "the most commands") { taken.withLock { $0 } == most }
        reporter.report(.buffering(index: 5_001, position: .zero))
        #expect(taken.withLock { $0 } == most)
        let lines = await readLines(5_001)
        #expect(lines.last == "buffering index=5001 position=0 t=0")
        if command == .list { for _ in 0..<3 { reporter.report(.list(PlayerSnapshot())) } }
        try await wait(for: "the rest") { taken.withLock { $0 } == most + 3 }
        await reporter.finish()
    }

    @Test func `a line between events keeps its place, and lines and events after the end are dropped`() async
    {
        let reporter = reporter()
        reporter.report(.loaded(tracks: 1))
        reporter.inOrder { pipe.send("said\n") }
        reporter.report(.loaded(tracks: 2))
        await reporter.finish()
        reporter.inOrder { pipe.send("late\n") }
        reporter.report(.loaded(tracks: 3))
        await reporter.finish()
        #expect(pipe.receive() == "loaded tracks=1 t=0\nsaid\nloaded tracks=2 t=0\n")
    }

    @Test(arguments: [true, false])
    func `a long line is made in pieces, as its reader reads it, in order with the other lines`(isJSON: Bool)
        async
    {
        let made = Locked(0)
        let tracks = (0..<20_000).map { Track(id: Track.ID($0), location: .file("/music/\($0).mp3")) }
        var player = PlayerSnapshot()
        player.tracks = tracks
        #expect(EventLine(.list(player), at: .zero).json.utf8.count > 1_000_000)
        let list = EventField.list(count: tracks.count) { place in
            made.withLock { $0 += 1 }
            return .text(tracks[place].location.safeText)
        }
        let line = EventLine(name: "list", fields: [("tracks", list)], time: .zero)
        let writer = LineWriter(descriptor: pipe.writing, onReaderGone: {})
        let thread = WorkThread(name: "writer")
        defer { thread.stop() }
        thread.submit {
            writer.write { isJSON ? line.writeJSON(to: &$0) : line.writeWords(to: &$0) }
            writer.write("last")
        }
        var text = pipe.receive()
        // What was read, what the pipe holds, and a piece, of at least 15 bytes a track.
        #expect(made.withLock { $0 } <= 3 * 65_536 / 15)
        while !text.hasSuffix("last\n") { text += pipe.receive() }
        #expect(text == (isJSON ? line.json : line.words) + "\nlast\n" && made.withLock { $0 } == 40_000)
    }

    @Test(arguments: [false, true])
    func `the wait for a reader that does not read can be limited`(isEarly: Bool) async throws {
        let reporter = reporter()
        for index in 1...5_000 { reporter.report(.buffering(index: index, position: .zero)) }
        if isEarly { reporter.limitWait() }
        let finishing = Task { await reporter.finish() }
        if !isEarly { reporter.limitWait() }
        try await wait(for: "the limit") { clock.sleeperCount == 1 }
        clock.advance(by: EventReporter.writeLimit)
        await finishing.value
        // To the last line: one that was written after the pipe's end could reach the next test's.
        let lines = await readLines(5_000)
        #expect(lines.first == "buffering index=1 position=0 t=0")
        #expect(lines.count == 5_000)
    }
}
