import Media
import TestSupport
import Testing

@testable import Output

/// Parts of `PulseOutput` that need no server.
@Suite struct PulsePartsTests {
    @Test func `a connection that is closed before it began connects to nothing, and is not kept`()
        async throws
    {
        weak var left: PulseConnection?
        do {
            let patience = PulsePatience(clock: TestClock())
            let connection = try PulseConnection(application: PulseApplication(), patience: patience) { _ in }
            left = connection
            connection.close()
            await #expect(throws: MediaError.self) { try await connection.connect(to: "unix:/nowhere") }
        }
        try await wait(for: "its end") { left == nil }
    }

    @Test func `without libpulse nothing of it is called, and what to install is said`() {
        let error = #expect(throws: MediaError.self) { try PulseMainloop(loadLibrary: { "no such file" }) }
        #expect(error?.code == .audioServer)
        #expect(
            error?.description
                == "PulseAudio: libpulse cannot be loaded (no such file); install libpulse0, "
                + "or play with --sink null"
        )
    }

    @Test(arguments: [100, 40])
    func `a volume that was asked for counts as chosen, full volume too`(percent: Int) {
        var state = PulseVolumeState()
        #expect(!state.isChosen)
        state.chosen(.init(percent: percent, isMuted: false))
        #expect(state.isChosen)
    }
}
