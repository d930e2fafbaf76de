import Foundation
import RepriseOrigin
import System
import TestSupport

/// The time from a command to its sound on a line of 50 ms and 400 kB/s, and the time until the replaced
/// request ends.
enum KeySounds {
    private static let limit = Duration.seconds(25)

    private struct Step: Sendable {
        var sound: Double?
        var requests: Int
        /// The time from the key to the last byte of the earlier requests.
        var cancel: Double?
    }

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("Key to sound, 50 ms and 400 kB/s")
        // 4:10 has the pitch of second 10. A Xing table of contents is up to 1/128 of the track off.
        let songs = [
            ("CBR", try await stage.song(), 10...11), ("VBR", try await stage.variableSong(), 8...12),
        ]
        let players = stage.players.filter(\.seeks)
        for _ in 0..<rounds {
            for (name, song, seconds) in songs {
                let results = try await stage.together(players) {
                    try await seek(stage, $0, song, Set(seconds))
                }
                for (kind, steps) in results {
                    let far = "seek to 4:10, not there yet, \(name)"
                    let asked = Double(steps.far.requests)
                    table.add(
                        far,
                        .milliseconds,
                        steps.far.sound,
                        of: kind,
                        atMost: 110,
                        goal: "≤ 50 + 60 ms",
                        absent: "> 25 s"
                    )
                    table.add(far + ": requests for it", .count, asked, of: kind, atMost: 1)
                    let cancel = far + ": to the last old byte"
                    table.add(cancel, .milliseconds, steps.far.cancel, of: kind, atMost: 50)
                    let back = "seek back to what was heard, \(name)"
                    table.add(back, .milliseconds, steps.back.sound, of: kind, atMost: 60)
                }
            }
            try await measureNext(stage, songs[0].1, &table)
        }
        try await measureSlider(stage, songs[0].1, &table)
    }

    /// The requests for the targets of twenty seeks within a second, as a dragged slider sends them.
    private static func measureSlider(_ stage: BenchStage, _ song: [UInt8], _ table: inout FigureTable)
        async throws
    {
        for kind in stage.players where kind == .reprise {
            let server = try stage.origin(["/song.mp3": song], BenchStage.slowLine)
            let requests = try await stage.with(kind, [server.url("/song.mp3")]) { run, ear in
                let sound = try await ear.firstSound(after: run.begun) ?? .now
                try await Task.sleep(until: sound + .seconds(3))
                let last = server.log.requests.last?.number ?? 0
                let begun = ContinuousClock.now
                for count in 0..<20 {
                    try await Task.sleep(until: begun + .milliseconds(50) * count)
                    try await run.seek(to: 170 + 4 * count)
                }
                // Until the last target is heard: later requests are read-ahead.
                _ = try await ear.firstSound(
                    of: [6, 7],
                    after: begun + .milliseconds(950),
                    within: limit
                )
                // All targets but the last, and a second before each, where a seek begins to read. No other
                // seek precedes the first one, so it sends its request at once.
                let skipped = Int64(169 * 24_000)..<Int64(244 * 24_000)
                return server.log.requests.count { request in
                    let first = request.range?.dropFirst("bytes=".count).prefix { $0 != "-" }
                    return request.number > last && first.flatMap { Int64($0) }.map(skipped.contains) ?? false
                }
            }
            let name = "20 seeks in a second: requests for all but the last"
            table.add(name, .count, Double(requests), atMost: 1)
        }
    }

    private static func seek(
        _ stage: BenchStage,
        _ kind: PlayerKind,
        _ song: [UInt8],
        _ seconds: Set<Int>
    ) async throws -> (far: Step, back: Step) {
        let server = try stage.origin(["/song.mp3": song], BenchStage.slowLine)
        return try await stage.with(kind, [server.url("/song.mp3")], hasScreen: true) { run, ear in
            let sound = try await ear.firstSound(after: run.begun) ?? .now
            try await Task.sleep(until: sound + .seconds(3))
            let far = try await step(server, ear, seconds) { try await run.seek(to: 250) }
            // Lets the requests of this seek end, so that they are not counted for the next one.
            try await Task.sleep(for: .seconds(4))
            let back = try await step(server, ear, [1, 2]) { try await run.seek(to: 1) }
            return (far, back)
        }
    }

    private static func step(
        _ server: TestOrigin,
        _ ear: Ear,
        _ seconds: Set<Int>,
        _ seek: () async throws -> Void
    ) async throws -> Step {
        let old = server.log.requests.filter { $0.outcome == .underWay }.map(\.number)
        let last = server.log.requests.last?.number ?? 0
        let begun = ContinuousClock.now
        let watch = Task { await arrivals(behind: last, at: server) }
        defer { watch.cancel() }
        try await seek()
        async let ended = end(of: old, server, since: begun)
        let sound = try await ear.firstSound(of: seconds, after: begun, within: limit)
        watch.cancel()
        let came = await watch.value
        // The line lets nothing of a later one come before the sound: it is ahead of the music. An arrival is
        // noted a little late.
        let latest = sound.map { $0 - BenchStage.slowLine.roundTrip + .milliseconds(5) } ?? .now
        let requests = server.log.requests.count {
            $0.number > last && $0.outcome != .aborted && (came[$0.number] ?? latest) <= latest
        }
        return Step(
            sound: sound.map { ($0 - begun) / .milliseconds(1) },
            requests: requests,
            cancel: try await ended
        )
    }

    /// The arrival of each request after number `last`, to the millisecond, until the task is cancelled.
    private static func arrivals(
        behind last: Int,
        at server: TestOrigin
    ) async -> [Int: ContinuousClock.Instant] {
        var arrivals: [Int: ContinuousClock.Instant] = [:]
        while !Task.isCancelled {
            for request in server.log.requests where request.number > last {
                if arrivals[request.number] == nil { arrivals[request.number] = .now }
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return arrivals
    }

    private static func end(
        of numbers: [Int],
        _ server: TestOrigin,
        since begun: ContinuousClock.Instant
    ) async throws -> Double? {
        guard !numbers.isEmpty else { return nil }
        while ContinuousClock.now < begun + limit {
            let isOver = !server.log.requests.contains {
                $0.outcome == .underWay && numbers.contains($0.number)
            }
            if isOver { return (ContinuousClock.now - begun) / .milliseconds(1) }
            try await Task.sleep(for: .milliseconds(1))
        }
        return limit / .milliseconds(1)
    }

    /// The next track if nothing of it is cached, and if its head is.
    private static func measureNext(_ stage: BenchStage, _ song: [UInt8], _ table: inout FigureTable)
        async throws
    {
        let short = try await MP3Fixtures.bytes(.init(seconds: 9, rate: .constant(192)))
        let players = stage.players.filter(\.takesLists)
        let results = try await stage.together(players) { kind in
            var sounds: [Double?] = []
            for (first, wait) in [(song, 3.0), (short, 5.0)] {
                let server = try stage.origin(["/1.mp3": first, "/2.mp3": song], BenchStage.slowLine)
                let urls = [server.url("/1.mp3"), server.url("/2.mp3")]
                sounds.append(
                    try await stage.with(kind, urls, hasScreen: true) { run, ear in
                        let sound = try await ear.firstSound(after: run.begun) ?? .now
                        try await Task.sleep(until: sound + .seconds(wait))
                        let begun = ContinuousClock.now
                        try await run.next()
                        let next = try await ear.firstSound(of: [0], after: begun, within: limit)
                        return next.map { ($0 - begun) / .milliseconds(1) }
                    }
                )
            }
            return sounds
        }
        for (kind, sounds) in results {
            table.add("next track, nothing of it there", .milliseconds, sounds[0], of: kind)
            table.add("next track, 4 s before the end", .milliseconds, sounds[1], of: kind, atMost: 60)
        }
    }
}
