import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Several players on one folder: none plays a wrong byte, and none waits for ever.
@Suite(.serialized) struct SharedFolderTests {
    private static let playerCount = 4
    private static let pieces: [ExactMusic] = (1...10).map {
        .made(MP3Fixtures.Options(seconds: 4 + $0 % 3, rate: .constant(192), seed: UInt64($0)))
    }

    /// 10 pieces take 1.2 MB: with half of that something has to go all the time.
    @Test(arguments: TestCount.seeds(1, full: 4))
    func `players in one narrow folder, some of them killed, hear what they should`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = try await makeStage()
        let count = TestCount.isFull ? 200 : 30
        var players: [Task<String?, any Error>] = []
        for player in 0..<Self.playerCount {
            let order = (0..<count).map { _ in Int.random(in: 0..<Self.pieces.count, using: &random) }
            // Two of the four are killed again and again, and continue after the track that they were
            // playing.
            let seed = player < 2 ? random.next() : nil
            players.append(Task { try await Self.play(order, on: stage, killedBy: seed) })
        }
        for player in players {
            let failure = try await player.value
            #expect(failure == nil, "seed \(seed)")
        }
        #expect(try await stage.falseClaims(Self.pieces) == [], "seed \(seed)")
        // No process is left that could hold a lock, and nothing needs repair.
        let sound = try await stage.samples(options: ["--cache-size", "600000"])
        let reference = try await Self.pieces[0].reference
        expectSame(sound, as: reference)
    }

    @Test func `with room for everything no player fetches a piece twice`() async throws {
        var random = SeededGenerator(seed: 5)
        let stage = try await makeStage()
        var players: [(agent: String, run: Session, order: [Int])] = []
        for player in 0..<Self.playerCount {
            let order = (0..<20).map { _ in Int.random(in: 0..<Self.pieces.count, using: &random) }
            let agent = "player-\(player)"
            let run = try stage.session(order.map { stage.url($0) }, options: ["--user-agent", agent])
            players.append((agent, run, order))
        }
        for player in players {
            let sound = try await player.run.finish()
            let reference = try await Self.reference(of: player.order)
            expectSame(sound, as: reference, "\(player.agent)")
            for (index, piece) in Self.pieces.enumerated() {
                let length = Int64(try await piece.bytes.count)
                let sent = stage.server.log.requests(for: Stage.path(index))
                    .filter { $0.fields["User-Agent"]?.contains(player.agent) == true }
                    .reduce(0) { $0 + $1.bodyBytesSent }
                #expect(sent <= length, "\(player.agent), piece \(index)")
            }
        }
        #expect(try await stage.falseClaims(Self.pieces) == [])
        #expect(stage.server.log.requests.allSatisfy { $0.fields["User-Agent"]?.contains("player-") == true })
    }

    private func makeStage() async throws -> Stage {
        let stage = try await Stage()
        for (index, piece) in Self.pieces.enumerated() {
            stage.server.set(try await piece.bytes, at: Stage.path(index))
        }
        return stage
    }

    private static func reference(of order: [Int]) async throws -> Data {
        var reference = Data()
        for index in order { reference += try await pieces[index].reference }
        return reference
    }

    /// Plays the tracks in order; returns the errors found.
    private static func play(
        _ order: [Int],
        on stage: Stage,
        killedBy seed: UInt64?
    ) async throws -> String? {
        var random = SeededGenerator(seed: seed ?? 0)
        var rest = order[...]
        while !rest.isEmpty {
            let isLast = seed == nil || Int.random(in: 0..<6, using: &random) == 0
            let fault = (kind: CallFaults.Kind.kill, at: Int.random(in: 0..<250, using: &random))
            let faults = try CallFaults(
                below: stage.cachePath,
                in: stage.folder,
                fault: isLast ? nil : fault
            )
            let run = try stage.session(
                rest.map { stage.url($0) },
                options: ["--cache-size", "600000"],
                environment: faults.environment
            )
            let status = try await run.process.waitForExit(deadline: .seconds(300))
            let sound = run.takeSound()
            let reference = try await reference(of: Array(rest))
            if status == 0 {
                if sound.firstDifference(from: reference) != nil { return "wrong samples" }
                return nil
            }
            guard status == -SIGKILL else { return "ended with \(status): \(run.process.errorText)" }
            guard sound.count <= reference.count,
                sound.firstDifference(from: reference.prefix(sound.count)) == nil
            else { return "wrong samples before it was killed" }
            let ended = try run.ends.count
            rest = rest.dropFirst(max(1, ended))
        }
        return nil
    }
}
