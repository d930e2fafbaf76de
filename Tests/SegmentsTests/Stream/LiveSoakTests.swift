import Media
import System
import TestSupport
import Testing

@testable import Segments

/// A live stream whose server makes all kinds of trouble, on the test clock.
@Suite struct LiveSoakTests {
    /// What goes wrong for 30 s.
    private enum Trouble: CaseIterable {
        case none, standsStill, late, newToken, restart, uncounted, gone, unreachable
    }

    /// The server: one segment of 6 s after the other, whose bodies tell their places in the stream.
    private struct Server {
        private static let window = 8

        let stage: StreamStage
        var random: SeededGenerator
        private var trouble = Trouble.none
        private var slot = -1
        private var token = 1
        /// The place in the stream of the segment with media sequence number 0.
        private var base = -500
        /// The first segment of this encoder.
        private var first = 0
        private var newest = 0
        private(set) var gone: Set<Int> = []
        private(set) var troubles: [Trouble] = []

        init(_ stage: StreamStage, seed: UInt64) {
            self.stage = stage
            random = SeededGenerator(seed: seed)
        }

        /// Publishes what there is at `time`. The first two minutes, and the last, are quiet.
        mutating func publish(at time: Duration, isQuiet: Bool) {
            let now = Int(time.seconds / 6) + 10
            if slot != now / 5 {
                slot = now / 5
                trouble = isQuiet ? .none : Trouble.allCases.randomElement(using: &random) ?? .none
                troubles.append(trouble)
                switch trouble {
                case .newToken: token += 1
                case .restart:
                    base = now
                    first = now
                case .gone: gone.insert(now + 1)
                case .none, .standsStill, .late, .uncounted, .unreachable: break
                }
            }
            let isHeld = trouble == .standsStill && now % 5 < 2
            if !isHeld { newest = now - (trouble == .late && now % 5 == 1 ? 2 : 0) }
            let oldest = max(first, newest - Self.window)
            stage.web.state.withLock { $0.bodies = [:] }
            if trouble == .unreachable, now % 5 < 2 { return }
            let master =
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\"\nlist.m3u8?t=\(token)\n"
            stage.web.set("/master.m3u8", master)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(oldest - base)\n"
            for number in oldest...newest {
                if number % 4 == 0, trouble == .uncounted { text += "#EXT-X-DISCONTINUITY\n" }
                text += "#EXTINF:6,\ns\(number).ts?t=\(token)\n"
                if !gone.contains(number) { stage.web.set("/s\(number).ts?t=\(token)", stage.body(number)) }
            }
            stage.web.set("/list.m3u8?t=\(token)", text)
        }
    }

    private final class Heard: Sendable {
        let all = Locked<[Int]>([])
    }

    /// Ten minutes each.
    @Test(.timeLimit(.minutes(10)), arguments: TestCount.seeds(4, full: 200))
    func `no segment that the server still had is lost or heard twice`(seed: UInt64) async throws {
        let stage = StreamStage()
        var server = Server(stage, seed: seed)
        server.publish(at: .zero, isQuiet: true)
        let reader = try await stage.open("/master.m3u8")
        let heard = Heard()
        let listening = Task {
            var number = stage.first(of: reader)
            while let segment = try await reader.segment(number) {
                let bytes = try await stage.bytes(of: segment) ?? []
                // The length of a body tells its place.
                if !bytes.isEmpty { heard.all.withLock { $0.append(bytes.count - 20_000) } }
                number = segment.number + 1
            }
        }
        let end = Duration.seconds(600)
        while stage.clock.now < end {
            try await wait(for: "the clock") { stage.clock.nextWake != nil }
            let next = try #require(stage.clock.nextWake)
            server.publish(at: next, isQuiet: next < .seconds(60) || next > end - .seconds(90))
            stage.clock.advance(to: next)
        }
        try await wait(for: "the last segment") { stage.clock.nextWake != nil }
        listening.cancel()
        await reader.close()
        let all = heard.all.withLock { $0 }
        let first = try #require(all.first)
        let last = try #require(all.last)
        #expect(last >= 108, "\(server.troubles)")
        #expect(all == (first...last).filter { !server.gone.contains($0) }, "\(server.troubles)")
        let notices = stage.notices.all.withLock { $0 }
        #expect(notices.count == server.gone.filter { $0 <= last }.count, "\(notices), \(server.troubles)")
        #expect(stage.web.openCount == 0)
    }
}
