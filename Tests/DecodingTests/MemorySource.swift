import Media
import System
import TestSupport

/// A resource in memory. Requests bring the bytes that are not stored. Reads and requests are logged.
final class MemorySource: ResourceReader {
    struct Read: Equatable {
        var offset: Int64
        var asked: Int
        var given: Int
    }

    private struct State {
        var stored = ByteRangeSet()
        var reads: [Read] = []
        var requests: [ByteRange] = []
        var random: SeededGenerator?
        var isGated = false
        var prefetched: [ByteRange] = []
        var announced: [ByteRange] = []
        /// The length of the resource.
        var length: Int
        var isLengthKnown = true
    }

    let bytes: [UInt8]
    private let seekTable: [UInt8]
    private let requestByteCount: Int
    private let mostReads: Int
    private let state: Locked<State>

    /// A request brings at most `requestByteCount` bytes, or what was announced. With a seed, reads return
    /// randomly fewer bytes than requested. If `length` is larger than the number of `bytes`, zeros follow
    /// them. After `mostReads`, reads throw `Endless`.
    init(
        _ bytes: [UInt8],
        isStored: Bool = false,
        requestByteCount: Int = 65_536,
        shortReads seed: UInt64? = nil,
        length: Int? = nil,
        seekTable: [UInt8] = [],
        mostReads: Int = .max
    ) {
        self.bytes = bytes
        self.mostReads = mostReads
        self.seekTable = seekTable
        self.requestByteCount = requestByteCount
        state = Locked(State(random: seed.map(SeededGenerator.init(seed:)), length: length ?? bytes.count))
        if isStored { store(0..<Int64(bytes.count)) }
    }

    var length: Int64? { state.withLock { $0.isLengthKnown ? Int64($0.length) : nil } }
    var reads: [Read] { state.withLock(\.reads) }
    var readByteCount: Int { reads.reduce(0) { $0 + $1.given } }
    /// The ranges requested from the network, in order.
    var requests: [ByteRange] { state.withLock(\.requests) }

    func store(_ range: ByteRange) { state.withLock { $0.stored.insert(contentsOf: range) } }

    /// Lets the resource have only the first `length` of the bytes, until it is told otherwise.
    func setLength(_ length: Int) { state.withLock { $0.length = length } }

    /// Hides the length, as a server does that sends its answer in pieces.
    func hideLength() { state.withLock { $0.isLengthKnown = false } }

    func showLength() { state.withLock { $0.isLengthKnown = true } }

    /// Lets reads wait until their task is cancelled.
    func closeGate() { state.withLock { $0.isGated = true } }

    func openGate() { state.withLock { $0.isGated = false } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let isGated = state.withLock { state in
            let announced = state.announced.last.map { $0.contains(offset) ? $0.upperBound : 0 } ?? 0
            let end = min(max(offset + Int64(min(count, requestByteCount)), announced), Int64(state.length))
            if offset < end, !state.stored.contains(offset) {
                state.requests.append(offset..<end)
                state.stored.insert(contentsOf: offset..<end)
            }
            return state.isGated
        }
        let given = try await readStored(at: offset, count: count)
        if isGated {
            try await wait(for: "the cancelling of a gated read") {
                try Task.checkCancellation()
                return false
            }
        }
        return given
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        return try state.withLock { state in
            guard state.reads.count < mostReads else { throw Endless() }
            let start = min(offset, Int64(state.length))
            let end = min(start + Int64(count), Int64(state.length))
            var given = Int((state.stored.gaps(in: start..<end).first?.lowerBound ?? end) - start)
            if given > 1, var random = state.random {
                given = Int.random(in: 1...given, using: &random)
                state.random = random
            }
            state.reads.append(Read(offset: offset, asked: count, given: given))
            let known = bytes[min(Int(start), bytes.count)..<min(Int(start) + given, bytes.count)]
            return known + [UInt8](repeating: 0, count: given - known.count)
        }
    }

    func isStored(_ range: ByteRange) -> Bool { state.withLock { $0.stored.covers(range) } }

    var report: LoadReport { LoadReport() }
    func allowReadAhead(bytesPerSecond: Double) {}
    /// The ranges that were announced, in order.
    var announced: [ByteRange] { state.withLock(\.announced) }
    func willRead(_ range: ByteRange) { state.withLock { $0.announced.append(range) } }
    /// The ranges that were to be fetched ahead.
    var prefetched: [ByteRange] { state.withLock(\.prefetched) }
    func prefetch(_ range: ByteRange) { state.withLock { $0.prefetched.append(range) } }
    func fill() {}
    func reject() async {}
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { seekTable }
    func store(_ facts: TrackFacts) {}
    func close() async {}
}
