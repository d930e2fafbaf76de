import Media
import TestSupport
import Testing

@testable import Decoding

/// A clock that states what a test wants.
private struct StatedClock: StreamClock {
    var audio: ByteRange? = 1_000..<101_000
    var duration: Duration?
    var isDurationExact = false
    var bytesPerSecond = 10_000.0
}

@Suite struct StreamClockTests {
    /// What is known after clocks that state `lengths`, one after the other; exact ones are negative.
    private func info(after lengths: [Double?], audio: ByteRange? = 1_000..<101_000) -> StreamInfo {
        var info = StreamInfo.unopened
        for length in lengths {
            let duration = length.map { Duration.seconds(abs($0)) }
            info.revise(by: StatedClock(audio: audio, duration: duration, isDurationExact: (length ?? 0) < 0))
        }
        return info
    }

    @Test(
        arguments: [
            ([100], 100, false), ([100, 100.5], 100, false), ([100, 99.2], 100, false),
            ([100, 102], 102, false),
            ([100, -100.5], 100.5, true), ([-100, 100.5], 100.5, false), ([-100, 300], 300, false),
            ([-100, -100.001], 100.001, true), ([100, nil], 100, false),
        ] as [([Double?], Double, Bool)]
    )
    func `an estimate gives way to a better one, and a believed length to what contradicts it`(
        lengths: [Double?],
        seconds: Double,
        isExact: Bool
    ) {
        let info = info(after: lengths)
        #expect(info.duration == .seconds(seconds) && info.isDurationExact == isExact)
    }

    @Test func `the times of bytes follow the length, and are unknown without an end of the bytes`() throws {
        let map = try #require(info(after: [100, -120]).timeMap)
        #expect(map == TimeMap(duration: .seconds(120), audio: 1_000..<101_000))
        #expect(info(after: [100], audio: nil).timeMap == nil)
        #expect(info(after: [100], audio: 1_000..<1_000).timeMap == nil)
        #expect(info(after: [nil]).timeMap == nil)
    }
}
