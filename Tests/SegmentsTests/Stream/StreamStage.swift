import Media
import System
import TestSupport

@testable import Segments

/// A stream of segments of 6 s at `/list.m3u8`, and what its reader says.
struct StreamStage: Sendable {
    let web = FakeWeb()
    let clock = TestClock()
    let notices = Notices()

    final class Notices: Sendable {
        let all = Locked<[MediaError]>([])
    }

    private static let decrypt: SegmentParts.Decrypt = { blocks, key, vector in
        // Chained like AES: each block is added to the one before it, and to the key.
        zip(blocks, vector + blocks.dropLast(16)).map { $0 &- $1 &- key[0] }
    }

    func parts(readAhead: Duration = .seconds(30)) -> SegmentParts {
        SegmentParts(
            open: { [web] in web.open($0) },
            request: { [web] in try web.request($0, unless: $1) },
            decrypt: Self.decrypt,
            clock: clock,
            readAhead: readAhead,
            onNotice: { [notices] error in notices.all.withLock { $0.append(error) } }
        )
    }

    /// `answeredAt` is the time at which the list was read; `nil` for now.
    func open(
        _ path: String = "/list.m3u8",
        fetched: Bool = true,
        answeredAt: Duration? = nil,
        readAhead: Duration = .seconds(30)
    ) async throws -> SegmentedReader {
        let location = FakeWeb.location(path)
        let list = web.open(location, fetched: fetched, answeredAt: answeredAt)
        return try await SegmentedReader.open(list, at: location, parts(readAhead: readAhead))
    }

    func list(
        _ numbers: ClosedRange<Int>,
        isEnded: Bool,
        _ tags: String = "",
        suffix: String = ""
    ) -> String {
        let segments = numbers.map { "#EXTINF:6,\ns\($0).ts\(suffix)" }
        return """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)
            \(tags)
            \(segments.joined(separator: "\n"))
            \(isEnded ? "#EXT-X-ENDLIST" : "")

            """
    }

    func body(_ number: Int) -> [UInt8] {
        ByteFixtures.bytes(count: 20_000 + number, seed: UInt64(number))
    }

    func publish(_ numbers: ClosedRange<Int>) {
        for number in numbers { web.set("/s\(number).ts", body(number)) }
    }

    /// The number of the segment with which playing begins.
    func first(of reader: SegmentedReader) -> Int { reader.place(at: reader.startTime).number }

    func bytes(of segment: Segment?) async throws -> [UInt8]? {
        try await segment?.bytes.allBytes(atMost: 1 << 20, of: "a segment")
    }
}
