import Media
import System
import TestSupport

/// A byte source in memory that counts reads, and may return fewer bytes than requested.
final class MemorySource: ByteSource {
    struct Read: Equatable {
        var offset: Int64
        var asked: Int
        var given: Int
    }

    private struct State {
        var reads: [Read] = []
        var random: SeededGenerator?
        var isGated = false
    }

    let bytes: [UInt8]
    private let isAllStored: Bool
    private let longestRead: Int
    private let state: Locked<State>

    /// Reads return up to `longestRead` bytes; with a seed, randomly fewer than requested.
    init(
        _ bytes: [UInt8],
        isStored: Bool = false,
        shortReads seed: UInt64? = nil,
        longestRead: Int = .max
    ) {
        self.bytes = bytes
        self.longestRead = longestRead
        isAllStored = isStored
        state = Locked(State(random: seed.map(SeededGenerator.init(seed:))))
    }

    var length: Int64? { Int64(bytes.count) }
    var reads: [Read] { state.withLock(\.reads) }

    /// Lets reads wait until their task is cancelled.
    func closeGate() { state.withLock { $0.isGated = true } }

    func openGate() { state.withLock { $0.isGated = false } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let (given, isGated) = state.withLock { state in
            let left = max(0, bytes.count - Int(min(offset, Int64(bytes.count))))
            var given = min(count, left, longestRead)
            if given > 1, var random = state.random {
                given = Int.random(in: 1...given, using: &random)
                state.random = random
            }
            state.reads.append(Read(offset: offset, asked: count, given: given))
            return (given, state.isGated)
        }
        if isGated {
            try await wait(for: "the cancelling of a gated read") {
                try Task.checkCancellation(); return false
            }
        }
        guard given > 0 else { return [] }
        return Array(bytes[Int(offset)..<Int(offset) + given])
    }

    func isStored(_ range: ByteRange) -> Bool { isAllStored }
}
