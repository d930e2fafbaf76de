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

    @Test(arguments: [100, 40])
    func `a volume that was asked for counts as chosen, full volume too`(percent: Int) {
        var state = PulseVolumeState()
        #expect(!state.isChosen)
        state.chosen(.init(percent: percent, isMuted: false))
        #expect(state.isChosen)
    }
}
