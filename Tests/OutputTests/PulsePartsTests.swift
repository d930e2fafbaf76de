import Media
import System
import TestSupport
import Testing

@testable import Output

/// Parts of `PulseOutput` that need no server.
@Suite struct PulsePartsTests {
    @Test func `a connection that is closed before it began connects to nothing, and is released`()
        async throws
    {
        #expect(await PulseMainloop.library.open() == nil)
        weak var left: PulseConnection?
        do {
            let limit = PulseTimeLimit(clock: TestClock())
            let connection = try PulseConnection(application: PulseApplication(), timeLimit: limit) { _ in }
            left = connection
            connection.close()
            await #expect(throws: MediaError.self) { try await connection.connect(to: "unix:/nowhere") }
        }
        try await wait(for: "its end") { left == nil }
    }

    @Test func `without libpulse nothing of it is called, and the error says what to install`() async {
        let missing = OptionalLibrary { "no such file" }
        let output = PulseOutput(sink: nil, clock: TestClock(), library: missing)
        for _ in 0..<2 {
            let error = await #expect(throws: MediaError.self) { try await output.connect() }
            #expect(error?.code == .audioServer)
            #expect(
                error?.description
                    == "PulseAudio: libpulse can't be loaded (no such file); install libpulse0, "
                    + "or play with --sink null"
            )
        }
    }
}

/// Our own volume changes come back as signals, like those of other programs.
struct PulseVolumeStateTests {
    private typealias Level = PulseVolumeState.Level

    private let quiet = Level(percent: 40, isMuted: false)
    private let loud = Level(percent: 80, isMuted: false)

    @Test func `the echo of our own setting is not reported`() {
        var state = PulseVolumeState()
        state.chosen(quiet)
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(quiet) == .none)
        #expect(state.level == quiet)
    }

    @Test func `the change of another program is reported, and counts as chosen`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(loud) == .report(loud))
        #expect(state.isChosen && state.level == loud)
        // The same value again is no change.
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(loud) == .none)
    }

    @Test func `an answer to a question asked before our last setting is ignored, and asked again`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        state.chosen(quiet)
        #expect(state.answered(loud) == .ask)
        #expect(state.answered(quiet) == .none)
        #expect(state.level == quiet)
    }

    @Test func `signals while a question is under way lead to one more question`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        #expect(state.changeSignalled() == .none)
        #expect(state.changeSignalled() == .none)
        #expect(state.answered(quiet) == .ask)
        #expect(state.answered(quiet) == .report(quiet))
        #expect(state.changeSignalled() == .ask)
        state.unanswered()
        #expect(state.changeSignalled() == .ask)
    }
}
