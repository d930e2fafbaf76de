import Foundation
import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Reads at any offset of any resource, whatever is stored and whatever the server does.
@Suite struct ReadPropertyTests {
    static let seeds = TestCount.seeds(100, full: 2_000)

    /// The behaviour of the server in one case. Nothing here damages the music permanently.
    private struct Server {
        var script: [[Fault]]
        var always: [Fault]
        var hasValidators: Bool
        var hasRanges: Bool

        /// `true` if an answer may state another length while only the length identifies the resource: then
        /// all is fetched again.
        var seemsToChange: Bool {
            !hasValidators && script.joined().contains { if case .lengthOff = $0 { true } else { false } }
        }

        init(length: Int64, using random: inout SeededGenerator) {
            hasValidators = Int.random(in: 0..<4, using: &random) > 0
            hasRanges = Int.random(in: 0..<6, using: &random) > 0
            var always: [Fault] = hasValidators ? [] : [.noValidators]
            if !hasRanges { always.append(.ignoresRanges) }
            let habits: [[Fault]] = [
                [], [], [], [.chunked], [.closeDelimited], [.shortParts(atMost: 9_000)], [.unknownTotal],
                [.lowerCaseFields], [.protocolName("HTTP/1.0")], [.ignoresIfRange],
            ]
            always += habits.randomElement(using: &random) ?? []
            // A whole body that ends too early with its connection looks complete.
            if !hasRanges { always.removeAll { $0 == .closeDelimited } }
            self.always = always
            script = []
            var cuts: Set<Int64> = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let count = Int64.random(in: 0...min(length, 90_000), using: &random)
                // Two bodies from the start that break off at the same byte are the resource's end. A body
                // that compares 4 KiB of a short resource begins there, too.
                let isEnd = !cuts.insert(count).inserted && (!hasRanges || length <= 4_096)
                let cut: [Fault] = isEnd ? [] : [.cut(afterBytes: count)]
                let stall: [Fault] = isEnd ? [] : [.stall(afterBytes: count)]
                let faults: [[Fault]] = [
                    [], cut, cut, stall,
                    [.status(503)], [.status(500), .field("Retry-After", "3")], [.silence],
                    [.cut(afterBytes: 0)],
                    // A wrong length of a whole body would be taken for the resource's.
                    hasRanges ? [.contentLength(count)] : [], hasRanges ? [.lengthOff(by: 5_000)] : [],
                ]
                script.append(always + (faults.randomElement(using: &random) ?? []))
            }
        }
    }

    @Test(arguments: seeds)
    func `every read ends with the right bytes, and nothing stored is fetched again`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let sizes: [ClosedRange<Int>] = [1...3, 65_535...65_537, 1...70_000, 100_000...700_000]
        let size = Int.random(in: sizes.randomElement(using: &random) ?? 1...1, using: &random)
        let length = Int64(size)
        let bytes = ByteFixtures.bytes(count: size, seed: seed)
        let chain = try Chain(["/song.mp3": bytes])
        let server = Server(length: length, using: &random)
        let before = try await preload(bytes, in: chain, hasValidators: server.hasValidators, using: &random)
        chain.server.origin.script(server.script, thenAlways: server.always, for: "/song.mp3")

        let readers = [try await chain.open(), try await chain.open()]
        if Bool.random(using: &random) { readers[0].reader.allowReadAhead(bytesPerSecond: 20_000) }
        for number in 0..<Int.random(in: 3...9, using: &random) {
            let offset = Int64.random(in: 0...length + 10, using: &random)
            let count = Int.random(in: 1...80_000, using: &random)
            let reader = readers[number % 2]
            let got = try await chain.keepingTime { try await reader.read(at: offset, count: count) }
            if offset >= length {
                #expect(got.isEmpty)
            } else {
                let end = Int(offset) + got.count
                #expect(!got.isEmpty && got.count <= count && end <= size)
                #expect(got.elementsEqual(bytes[Int(offset)..<min(size, end)]))
            }
        }
        let all = try await chain.bytes(readers[0])
        #expect(all == bytes)

        let log = chain.server.log
        let requests = Int64(log.requests.count)
        let sent = log.sentRanges(for: "/song.mp3")
        // Without a stated total and validators, only the whole body shows where the end is.
        if server.hasRanges, server.hasValidators || !server.always.contains(.unknownTotal),
            !server.seemsToChange
        {
            // Without validators, each request compares 4 KiB.
            let compared = server.hasValidators ? 0 : requests * 4_096
            #expect(before.intersection(sent).byteCount <= compared)
            // After a time-out, bytes under way were sent in vain.
            if chain.clock.now == .zero {
                #expect(log.bytesSentAgain() <= compared + log.bytesCutOff())
            }
        }
        try await chain.end()
        let kept = try await chain.claims(of: bytes)
        #expect(kept.stored == ByteRangeSet(0..<length))
        #expect(kept.description.length == length)
        #expect(chain.notices.isEmpty)
    }

    /// Caches some pieces of `bytes`, as if they had been played before; returns them.
    private func preload(
        _ bytes: [UInt8],
        in chain: Chain,
        hasValidators: Bool,
        using random: inout SeededGenerator
    ) async throws -> ByteRangeSet {
        var pieces = ByteRangeSet()
        let length = Int64(bytes.count)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let start = Int64.random(in: 0..<length, using: &random)
            let end = start + Int64.random(in: 1...90_000, using: &random)
            pieces.insert(contentsOf: start..<min(length, end))
        }
        var description = EntryDescription()
        if Bool.random(using: &random) { description.length = length }
        description.acceptsRanges = true
        let resource = OriginResource(bytes)
        if hasValidators {
            description.validators = Validators(etag: resource.etag, lastModified: resource.lastModified)
        }
        guard !pieces.isEmpty else { return pieces }
        let store = try await chain.store
        store.describe(description)
        for piece in pieces.ranges {
            try await store.write(
                Array(bytes[Int(piece.lowerBound)..<Int(piece.upperBound)]),
                at: piece.lowerBound
            )
        }
        await store.close()
        return pieces
    }
}
