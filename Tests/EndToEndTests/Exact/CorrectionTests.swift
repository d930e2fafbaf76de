import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// A seek into a gap of a file without a seek table: an estimate, and its correction.
@Suite struct CorrectionTests {
    @Test func `a seek into a gap costs one request, and turns exact with one event when the gap is filled`()
        async throws
    {
        let bytes = try await MP3Fixtures.bytes(
            .init(seconds: 120, rate: .variable(quality: 0, hasXing: false))
        )
        let stage = try await Stage(bytes)
        let log = stage.server.log
        // Bytes other than the head and the requested ones wait until the estimate was reported.
        let gate = stage.server.origin.hold(Stage.path(0), .afterBytesTogether(65_536))
        let player = try stage.startPlaying(["--fill", stage.url()])
        try await player.event("playing")
        let (count, asked) = (player.lines.count, log.requests.count)
        try player.send("seek 1:20")
        let half = Int64(bytes.count / 2)
        // What fills the gap begins before the place.
        func forThePlace() -> Int { log.requests.dropFirst(asked).count { $0.asked.lowerBound > half } }
        try await wait(for: "the request for the place") { forThePlace() > 0 }
        #expect(forThePlace() == 1)
        gate.release()
        let seeked = try await player.event("seeked", after: count)
        #expect(seeked.exact == false && seeked.position == 80)
        try await player.waitForLine(from: count) {
            $0.contains("\"event\":\"position\"") && $0.contains("\"exact\":true")
        }
        try await player.quit()
        let told = try player.events.drop { $0.event != "seeked" }
        #expect(told.filter { $0.event == "seeked" || $0.event == "playing" }.count == 2)
        let exact = told.filter { $0.event == "position" }.compactMap(\.exact)
        #expect(
            exact.last == true && exact == exact.filter { !$0 } + exact.filter { $0 },
            "once exact, it stays so"
        )
    }
}
