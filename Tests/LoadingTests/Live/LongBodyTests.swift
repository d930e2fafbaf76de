import Media
import System
import TestSupport
import Testing

@testable import Loading

/// Bodies without a length that exceed the limit for a file.
@Suite struct LongBodyTests {
    private static let pieces = 66
    private let url = WebURL("http://long.example/concert.mp3").unwrapped
    private let clock = TestClock()
    private let journal = SavedJournal()
    private let stores = MemoryStores()

    private func open(_ transport: LongTransport) async throws -> any ResourceReader {
        let loaders = Loaders(
            transport: transport,
            stores: stores,
            clock: clock,
            journal: journal,
            seed: 1
        )
        return try await loaders.open(.web(url))
    }

    /// Reads to the end, and expects every byte to be that of its piece.
    private func readAll(_ reader: any ResourceReader) async throws -> Int64 {
        var offset: Int64 = 0
        while true {
            let bytes = try await reader.read(at: offset, count: LongTransport.piece)
            guard let first = bytes.first else { return offset }
            let expected = UInt8(offset / Int64(LongTransport.piece))
            guard first == expected, bytes.last == UInt8((offset + Int64(bytes.count) - 1) >> 20) else {
                Issue.record("other bytes at \(offset)")
                return offset
            }
            offset += Int64(bytes.count)
        }
    }

    @Test func `a file of more than 64 MiB plays to its end, and only once`() async throws {
        let transport = LongTransport(pieces: Self.pieces)
        let reader = try await open(transport)
        let length = Int64(Self.pieces * LongTransport.piece)
        let reading = Task { try await readAll(reader) }
        try await wait(for: "the end") { reader.report.length != nil }
        #expect(try await reading.value == length)
        #expect(transport.requestCount == 1 && clock.sleeperCount == 0)
        #expect(reader.report.length == length && !reader.report.isCached && !reader.report.isSeekable)
        #expect(stores.store(of: url).state.withLock { $0.isDiscarded })
        #expect(journal.requests.map(\.end) == ["complete"])
        #expect(journal.requests.map(\.bytes) == [length])
        #expect(journal.decisions == [.live])
        await reader.close()
    }

    @Test func `a file of more than 64 MiB that breaks off is not begun again in its middle`() async throws {
        let validators = Validators(etag: "\"1\"")
        let transport = LongTransport(pieces: Self.pieces, validators: validators, isCut: true)
        let reader = try await open(transport)
        let reading = Task { try await readAll(reader) }
        try await wait(for: "the wait") { reader.report.wait != nil && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        let result = await reading.result
        #expect(throws: MediaError.self) { try result.get() }
        #expect(transport.requestCount == 2)
        #expect(journal.requests.map(\.end) == ["cut", "cut"])
        #expect(journal.requests.map(\.bytes) == [Int64(Self.pieces * LongTransport.piece), 0])
        await reader.close()
    }
}

/// Sends so many pieces of a MiB, each of its own number, without ranges or a length.
private final class LongTransport: RangeTransport {
    static let piece = 1 << 20

    private let pieces: Int
    private let validators: Validators
    private let isCut: Bool
    private let requests = Locked(0)

    init(pieces: Int, validators: Validators = Validators(), isCut: Bool = false) {
        (self.pieces, self.validators, self.isCut) = (pieces, validators, isCut)
    }

    var requestCount: Int { requests.withLock { $0 } }

    func send(_ request: RangeRequest) async throws -> RangeResponse {
        requests.withLock { $0 += 1 }
        return RangeResponse(
            answer: RangeAnswer(kind: .whole(length: nil), validators: validators),
            body: Body(pieces: pieces, isCut: isCut)
        )
    }

    private final class Body: ResponseBody {
        private let pieces: Int
        private let isCut: Bool
        private let next = Locked(0)

        init(pieces: Int, isCut: Bool) { (self.pieces, self.isCut) = (pieces, isCut) }

        func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            let number = next.withLock { next in
                defer { next += 1 }
                return next
            }
            if number < pieces { return [UInt8](repeating: UInt8(number), count: LongTransport.piece) }
            guard isCut else { return nil }
            throw MediaError(.cut, "the test's server", "broke off")
        }

        func cancel() {}
    }
}
