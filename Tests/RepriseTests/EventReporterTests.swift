import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite
struct EventReporterTests {
    @Test func `events are written in order with the time at which they were reported`() async {
        let pipe = PipeEnds()
        let clock = TestClock()
        let reporter = EventReporter(style: .json, clock: clock, descriptor: pipe.writing, onReaderGone: {})
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

    @Test func `nothing is written after the end`() async {
        let pipe = PipeEnds()
        let reporter = EventReporter(
            style: .words,
            clock: TestClock(),
            descriptor: pipe.writing,
            onReaderGone: {}
        )
        await reporter.finish()
        reporter.report(.loaded(tracks: 1))
        await reporter.finish()
        pipe.send("end\n")
        #expect(pipe.receive() == "end\n")
    }

    @Test func `a closed reader is reported once`() async {
        var ends: [Int32] = [-1, -1]
        signal(SIGPIPE, SIG_IGN)
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let reports = Counter()
        let reporter = EventReporter(
            style: .words,
            clock: TestClock(),
            descriptor: ends[1],
            onReaderGone: { reports.increment() }
        )
        for _ in 0..<3 { reporter.report(.loaded(tracks: 1)) }
        await reporter.finish()
        #expect(reports.value == 1)
    }

    @Test func `reporting never waits for a reader that does not read`() async throws {
        let pipe = PipeEnds()
        let reporter = EventReporter(
            style: .words,
            clock: TestClock(),
            descriptor: pipe.writing,
            onReaderGone: {}
        )
        // Far more than the pipe holds: a report that wrote by itself would hang here.
        for index in 1...20_000 { reporter.report(.buffering(index: index, position: .zero)) }
        let reading = WorkThread(name: "reader")
        async let finished: Void = reporter.finish()
        let lines = await reading.run { pipe.readLines(count: 20_000) }
        await finished
        reading.stop()
        #expect(lines.last == "buffering index=20000 position=0 t=0")
    }

    @Test func `a line between events keeps its place, and one after the end is dropped`() async {
        let pipe = PipeEnds()
        let clock = TestClock()
        let reporter = EventReporter(style: .words, clock: clock, descriptor: pipe.writing, onReaderGone: {})
        reporter.report(.loaded(tracks: 1))
        reporter.inOrder { pipe.send("said\n") }
        reporter.report(.loaded(tracks: 2))
        await reporter.finish()
        reporter.inOrder { pipe.send("late\n") }
        #expect(pipe.receive() == "loaded tracks=1 t=0\nsaid\nloaded tracks=2 t=0\n")
    }

    @Test(arguments: [false, true])
    func `the wait for a reader that does not read can be limited`(isEarly: Bool) async throws {
        let pipe = PipeEnds()
        let clock = TestClock()
        let reporter = EventReporter(style: .words, clock: clock, descriptor: pipe.writing, onReaderGone: {})
        for index in 1...5_000 { reporter.report(.buffering(index: index, position: .zero)) }
        if isEarly { reporter.limitWait() }
        let finishing = Task { await reporter.finish() }
        if !isEarly { reporter.limitWait() }
        try await wait(for: "the limit") { clock.sleeperCount == 1 }
        clock.advance(by: EventReporter.writeLimit)
        await finishing.value
        // To the last line: one that was written after the pipe's end could reach the next test's.
        let reading = WorkThread(name: "reader")
        let lines = await reading.run { pipe.readLines(count: 5_000) }
        reading.stop()
        #expect(lines.first == "buffering index=1 position=0 t=0")
        #expect(lines.count == 5_000)
    }
}

/// A number that several threads may raise.
final class Counter: Sendable {
    private let count = Locked(0)

    var value: Int { count.withLock { $0 } }

    func increment() { count.withLock { $0 += 1 } }
}
