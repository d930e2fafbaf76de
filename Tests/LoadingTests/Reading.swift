import Media
import System
import TestSupport

@testable import Loading

/// The URL of the track in these tests.
let songURL = WebURL("http://music.example/song.mp3").unwrapped

/// The bytes of a file, the same every time.
func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] { ByteFixtures.bytes(count: count, seed: seed) }

/// Some pieces of a file, which may overlap.
func randomPieces(
    _ count: ClosedRange<Int>,
    of length: Int64,
    upTo largest: Int64,
    using random: inout SeededGenerator
) -> [ByteRange] {
    (0..<Int.random(in: count, using: &random)).map { _ in
        let start = Int64.random(in: 0..<length, using: &random)
        return start..<min(length, start + Int64.random(in: 1...largest, using: &random))
    }
}

/// Reads `source` from `start` to its end, `count` bytes at a time.
func readAll(_ source: any ByteSource, from start: Int64 = 0, count: Int = 20_000) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
        let more = try await source.read(at: start + Int64(bytes.count), count: count)
        if more.isEmpty { return bytes }
        bytes += more
    }
}

/// Collects the records of a journal.
final class SavedJournal: RequestJournal {
    private let all = Locked<[JournalRecord]>([])

    var requests: [RequestRecord] {
        all.withLock { $0.compactMap { if case .request(let record) = $0.event { record } else { nil } } }
    }
    var decisions: [JournalRecord.Decision] {
        all.withLock {
            $0.compactMap { if case .decision(let decision, _) = $0.event { decision } else { nil } }
        }
    }

    func record(_ record: JournalRecord) { all.withLock { $0.append(record) } }
}

extension Optional {
    /// The value of a literal that the test itself wrote.
    var unwrapped: Wrapped {
        guard let self else { preconditionFailure("the test's own literal is wrong") }
        return self
    }
}
