import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// A seek into a gap of a file without a seek table: an estimate, and its correction.
@Suite struct CorrectionTests {
    @Test
    func
        `a seek into a gap costs one request and two samples, and turns exact with one event when the gap is filled`()
        async throws
    {
        let bytes = try await MP3Fixtures.bytes(
            .init(seconds: 120, rate: .variable(quality: 0, hasXing: false))
        )
        let stage = try await Stage(bytes)
        let log = stage.server.log
        // Only the starts of answers arrive until the estimate was reported.
        let gate = stage.server.origin.hold(Stage.path(0), .afterBytesOfEach(65_536))
        let player = try stage.startPlaying(["--fill", stage.url()])
        try await player.event("playing")
        let count = player.lines.count
        let asked = log.requests.count
        try player.send("seek 1:20")
        let seeked = try await player.event("seeked", after: count)
        let half = Int64(bytes.count / 2)
        // What fills the gap begins before the place, samples of the rate are short, and read-ahead follows
        // the place.
        let requests = log.requests.dropFirst(asked).map(\.asked)
        let samples = requests.filter { $0.count <= 4_096 }
        #expect(samples.count == 2, "\(requests)")
        let places = requests.filter { $0.lowerBound > half && $0.count > 4_096 }
        #expect(!places.isEmpty)
        for (place, next) in zip(places, places.dropFirst()) where place.upperBound != next.lowerBound {
            // A sample there is stored already.
            #expect(samples.contains(place.upperBound..<next.lowerBound), "\(requests)")
        }
        gate.release()
        #expect(seeked.exact == false && seeked.position == 80)
        try await player.waitForLine(from: count) {
            $0.contains("\"event\":\"position\"") && $0.contains("\"exact\":true")
        }
        try await player.quit()
        let told = try player.events.drop { $0.event != "seeked" }
        #expect(told.count { $0.event == "seeked" } == 1)
        // The starts of answers last for some seconds: music that stops because the gate opens late goes on
        // once more.
        #expect(told.count { $0.event == "playing" } == 1 + told.count { $0.event == "buffering" })
        let exact = told.filter { $0.event == "position" }.compactMap(\.exact)
        #expect(
            exact.last == true && exact == exact.filter { !$0 } + exact.filter { $0 },
            "once exact, it stays so"
        )
    }
}
