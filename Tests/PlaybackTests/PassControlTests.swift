import Media
import TestSupport
import Testing

@testable import Playback

@Suite final class PassControlTests {
    private let space = SpaceSignal()

    deinit { space.stop() }

    private func ring() -> PCMRing {
        PCMRing(format: AudioFormat(sampleRate: 8_000, channelCount: 1), frames: 100, space: space)
    }

    @Test func `a pass waits for its turn, then for the sink`() async throws {
        let control = PassControl()
        let ring = ring()
        let turn = Task { try await control.turn() }
        control.grant(ring, primeTarget: 10, holds: true)
        #expect(try await turn.value === ring)
        let goOn = Task { try await control.goOn() }
        control.release()
        try await goOn.value
    }

    @Test func `cancelling ends both waits`() async {
        let control = PassControl()
        let turn = Task { _ = try await control.turn() }
        turn.cancel()
        await #expect(throws: CancellationError.self) { try await turn.value }
        control.grant(ring(), primeTarget: nil, holds: true)
        let goOn = Task { try await control.goOn() }
        goOn.cancel()
        await #expect(throws: CancellationError.self) { try await goOn.value }
    }

    @Test func `a full ring is reported once for each request`() {
        let control = PassControl()
        control.grant(ring(), primeTarget: 10, holds: false)
        #expect(!control.claimPriming(available: 9, isLast: false))
        #expect(control.claimPriming(available: 10, isLast: false))
        #expect(!control.claimPriming(available: 10, isLast: true))
        control.requestPrime(at: 50)
        #expect(control.claimPriming(available: 1, isLast: true))
    }
}
