import Foundation
import Media
import System

/// A resource of which some bytes are stored, and the rest comes by requests, which are counted.
final class PartialSource: ByteSource {
    private struct State {
        var stored: ByteRangeSet
        var requests: [ByteRange] = []
        var readCount = 0
        var readByteCount = 0
    }

    /// One request brings no more, as the first of a cold start.
    private static let window = 65_536

    let bytes: [UInt8]
    private let state: Locked<State>

    init(_ bytes: [UInt8], stored: [ByteRange] = []) {
        self.bytes = bytes
        var set = ByteRangeSet()
        for range in stored { set.insert(contentsOf: range) }
        state = Locked(State(stored: set))
    }

    var length: Int64? { Int64(bytes.count) }
    /// The ranges requested from the network, in order.
    var requests: [ByteRange] { state.withLock(\.requests) }
    /// Reads of any kind, and the bytes that they brought.
    var readCount: Int { state.withLock(\.readCount) }
    var readByteCount: Int { state.withLock(\.readByteCount) }

    /// Lets `range` be stored from now on.
    func store(_ range: ByteRange) { state.withLock { $0.stored.insert(contentsOf: range) } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        let end = min(offset + Int64(count), Int64(bytes.count))
        guard offset < end else { return [] }
        state.withLock { state in
            guard !state.stored.contains(offset) else { return }
            let window = offset..<min(end, offset + Int64(Self.window))
            state.requests.append(window)
            state.stored.insert(contentsOf: window)
        }
        return take(offset..<end)
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        let end = min(offset + Int64(count), Int64(bytes.count))
        guard offset < end, state.withLock({ $0.stored.contains(offset) }) else { return [] }
        return take(offset..<end)
    }

    /// The part of `range` that is stored at its start.
    private func take(_ range: ByteRange) -> [UInt8] {
        state.withLock { state in
            let gap = state.stored.gaps(in: range).first?.lowerBound ?? range.upperBound
            let given = Array(bytes[Int(range.lowerBound)..<Int(gap)])
            state.readCount += 1
            state.readByteCount += given.count
            return given
        }
    }

    func isStored(_ range: ByteRange) -> Bool { state.withLock { $0.stored.covers(range) } }
}
