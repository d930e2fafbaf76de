import Media
import System
import TestSupport
import Testing

@testable import Segments

@Suite struct SegmentedReaderTests {
    private let web = FakeWeb()
    private let clock = TestClock()
    private let notices = Notices()

    private final class Notices: Sendable {
        let all = Locked<[MediaError]>([])
    }

    private static let decrypt: SegmentParts.Decrypt = { blocks, key, vector in
        // Chained like AES: each block is added to the one before it, and to the key.
        zip(blocks, vector + blocks.dropLast(16)).map { $0 &- $1 &- key[0] }
    }

    private func parts(readAhead: Duration = .seconds(30)) -> SegmentParts {
        SegmentParts(
            open: { [web] in web.open($0) },
            openAnew: { [web] in web.open($0) },
            decrypt: Self.decrypt,
            clock: clock,
            readAhead: readAhead,
            onNotice: { [notices] error in notices.all.withLock { $0.append(error) } }
        )
    }

    private func open(_ path: String = "/list.m3u8", fetched: Bool = true, readAhead: Duration = .seconds(30))
        async throws -> SegmentedReader
    {
        let location = FakeWeb.location(path)
        let list = web.open(location, fetched: fetched)
        return try await SegmentedReader.open(list, at: location, parts(readAhead: readAhead))
    }

    private func list(
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

    private func body(_ number: Int) -> [UInt8] {
        ByteFixtures.bytes(count: 20_000 + number, seed: UInt64(number))
    }

    private func publish(_ numbers: ClosedRange<Int>) {
        for number in numbers { web.set("/s\(number).ts", body(number)) }
    }

    private func bytes(of segment: Segment?) async throws -> [UInt8]? {
        try await segment?.bytes.allBytes(atMost: 1 << 20, of: "a segment")
    }

    // MARK: Recordings

    @Test func `a recording brings its segments in order, each opened once, and ends`() async throws {
        web.set("/list.m3u8", list(0...3, isEnded: true))
        publish(0...3)
        let reader = try await open()
        for number in 0...3 {
            #expect(try await bytes(of: reader.segment(number)) == body(number))
        }
        #expect(try await reader.segment(4) == nil)
        #expect(web.opened == ["/list.m3u8", "/s0.ts", "/s1.ts", "/s2.ts", "/s3.ts"])
        #expect(reader.duration == .seconds(24) && reader.report.live == nil)
        #expect(reader.report.requestCount == 5)
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a place is found by the stated durations, and read next`() async throws {
        web.set("/list.m3u8", list(0...9, isEnded: true))
        publish(0...9)
        let reader = try await open()
        _ = try await reader.segment(0)
        let place = reader.place(at: .seconds(40))
        #expect(place == (6, .seconds(36)))
        #expect(try await bytes(of: reader.segment(place.number)) == body(6))
        #expect(try await bytes(of: reader.segment(1)) == body(1))
        #expect(web.opened == ["/list.m3u8", "/s0.ts", "/s6.ts", "/s1.ts"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a master playlist leads to the rendition that is played`() async throws {
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
            low/list.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
            high/list.m3u8

            """
        web.set("/master.m3u8", master)
        web.set("/high/list.m3u8", list(0...0, isEnded: true))
        web.set("/high/s0.ts", body(0))
        let reader = try await open("/master.m3u8")
        #expect(try await bytes(of: reader.segment(0)) == body(0))
        #expect(web.opened == ["/master.m3u8", "/high/list.m3u8", "/high/s0.ts"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `master playlists that lead to one another are refused`() async throws {
        web.set("/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmaster.m3u8\n")
        await #expect { _ = try await open("/master.m3u8") } throws: { error in
            (error as? MediaError)?.code == .badPlaylist
        }
    }

    @Test func `segments are decrypted by their key, which is fetched once`() async throws {
        let tags = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""
        web.set("/list.m3u8", list(0...2, isEnded: true, tags))
        web.set("/key", [UInt8](repeating: 9, count: 16))
        for number in 0...2 {
            // The sequence number is the vector.
            var before = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
            var cipher: [UInt8] = []
            let padding = 16 - body(number).count % 16
            let plain = body(number) + [UInt8](repeating: UInt8(padding), count: padding)
            for start in stride(from: 0, to: plain.count, by: 16) {
                before = zip(plain[start..<start + 16], before).map { $0 &+ $1 &+ 9 }
                cipher += before
            }
            web.set("/s\(number).ts", cipher)
        }
        let reader = try await open()
        for number in 0...2 {
            #expect(try await bytes(of: reader.segment(number)) == body(number))
        }
        #expect(web.opened.filter { $0 == "/key" }.count == 1)
        await reader.close()
    }

    @Test func `a key of another length is an error`() async throws {
        web.set("/list.m3u8", list(0...0, isEnded: true, "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        web.set("/key", [1, 2, 3])
        publish(0...0)
        let reader = try await open()
        await #expect { _ = try await reader.segment(0) } throws: { error in
            (error as? MediaError)?.code == .badAnswer
        }
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `an initialisation section is fetched once`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: true, "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"50@10\""))
        web.set("/init.mp4", body(99))
        publish(0...2)
        let reader = try await open()
        for number in 0...2 {
            let section = try #require(try await reader.segment(number)?.initialisation)
            #expect(section.number == 0)
            #expect(try await section.bytes.read(at: 0, count: 100) == Array(body(99)[10..<60]))
        }
        #expect(web.opened.filter { $0 == "/init.mp4" }.count == 1)
        await reader.close()
    }

    @Test func `byte ranges of one file are its segments`() async throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXTINF:6,
            #EXT-X-BYTERANGE:1000@500
            all.ts
            #EXTINF:6,
            #EXT-X-BYTERANGE:700
            all.ts
            #EXT-X-ENDLIST

            """
        web.set("/list.m3u8", text)
        web.set("/all.ts", body(5))
        let reader = try await open()
        #expect(try await bytes(of: reader.segment(0)) == Array(body(5)[500..<1_500]))
        #expect(try await bytes(of: reader.segment(1)) == Array(body(5)[1_500..<2_200]))
        await reader.close()
    }

    @Test func `segments are read ahead once that is allowed, as far as their durations go`() async throws {
        web.set("/list.m3u8", list(0...9, isEnded: true))
        publish(0...9)
        let reader = try await open(readAhead: .seconds(20))
        _ = try await reader.segment(0)
        #expect(web.opened == ["/list.m3u8", "/s0.ts"])
        reader.allowReadAhead(bytesPerSecond: 16_000)
        // 24 s are more than 20; each is opened again to load it.
        let ahead = ["/s0.ts", "/s1.ts", "/s1.ts", "/s2.ts", "/s2.ts", "/s3.ts"]
        try await wait(for: "the read-ahead") { web.opened.count >= 2 + ahead.count }
        #expect(Array(web.opened.dropFirst(2)) == ahead)
        _ = try await reader.segment(1)
        try await wait(for: "one more") { web.opened.last == "/s4.ts" }
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a segment that is missing is an error, and may be asked for again`() async throws {
        web.set("/list.m3u8", list(0...1, isEnded: true))
        publish(0...0)
        let reader = try await open()
        let segment = try await reader.segment(1)
        await #expect(throws: MediaError.self) { _ = try await bytes(of: segment) }
        publish(1...1)
        #expect(try await bytes(of: reader.segment(1)) == body(1))
        await reader.close()
    }

    @Test func `a gap in a recording is silent, and is not requested`() async throws {
        let text = list(0...2, isEnded: true).replacing("#EXTINF:6,\ns1", with: "#EXT-X-GAP\n#EXTINF:6,\ns1")
        web.set("/list.m3u8", text)
        publish(0...2)
        let reader = try await open()
        #expect(try await reader.segment(0)?.isGap == false)
        let gap = try #require(try await reader.segment(1))
        #expect(gap.isGap && gap.duration == .seconds(6))
        #expect(try await bytes(of: reader.segment(2)) == body(2))
        #expect(!web.opened.contains("/s1.ts"))
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `an error ahead of the decoder is none if it has passed when the decoder gets there`()
        async throws
    {
        web.set(
            "/list.m3u8",
            list(0...1, isEnded: true).replacing("#EXTINF:6,\ns1", with: key + "#EXTINF:6,\ns1")
        )
        publish(0...1)
        let reader = try await open()
        _ = try await reader.segment(0)
        reader.allowReadAhead(bytesPerSecond: 1)
        try await wait(for: "the read-ahead") { web.opened.contains("/key") && web.openCount == 2 }
        web.set("/key", [UInt8](repeating: 1, count: 16))
        #expect(try await reader.segment(1) != nil)
        await reader.close()
    }

    private let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"

    @Test func `segments without a duration are read ahead in a bounded number`() async throws {
        let text = list(0...199, isEnded: true).replacing("#EXTINF:6,", with: "#EXTINF:0,")
        web.set("/list.m3u8", text)
        publish(0...199)
        let reader = try await open()
        _ = try await reader.segment(0)
        reader.allowReadAhead(bytesPerSecond: 1)
        try await wait(for: "the bound") { web.openCount == 65 && web.opened.last == "/s63.ts" }
        await reader.close()
        #expect(web.openCount == 0)
    }

    // MARK: Live

    @Test func `a live stream begins three target durations before the end, and is not cached`() async throws
    {
        web.set("/list.m3u8", list(10...19, isEnded: false))
        publish(10...19)
        let reader = try await open()
        #expect(try await bytes(of: reader.segment(0)) == body(17))
        #expect(reader.report.live != nil && !reader.report.isSeekable && reader.duration == nil)
        #expect(web.rejected == ["/list.m3u8"])
        await reader.close()
    }

    @Test func `the list is read again when its segments are used up, by the clock`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...9)
        let reader = try await open()
        for number in 0...2 { _ = try await reader.segment(number) }
        let next = Task { try await bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { clock.nextWake == .seconds(6) }
        web.set("/list.m3u8", list(1...3, isEnded: false, suffix: "?token=2"))
        #expect(web.opened.filter { $0 == "/list.m3u8" }.count == 1)
        clock.advance(to: .seconds(6))
        #expect(try await next.value == body(3))
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a live list from the cache is asked for anew`() async throws {
        web.set("/list.m3u8", list(0...3, isEnded: false))
        publish(0...3)
        let reader = try await open(fetched: false)
        #expect(web.opened == ["/list.m3u8", "/list.m3u8"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a live stream that ends is played to its end`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...3)
        let reader = try await open()
        for number in 0...2 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", list(0...3, isEnded: true))
        let last = Task { try await bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { clock.nextWake != nil }
        clock.advance(by: .seconds(6))
        #expect(try await last.value == body(3))
        #expect(try await reader.segment(4) == nil)
        await reader.close()
    }

    @Test func `a live segment that is gone is passed over, and said once`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...0)
        publish(2...2)
        let reader = try await open()
        #expect(try await bytes(of: reader.segment(0)) == body(0))
        let gone = try await reader.segment(1)
        #expect(try await bytes(of: gone)?.isEmpty == true)
        #expect(try await bytes(of: gone)?.isEmpty == true)
        #expect(try await bytes(of: reader.segment(2)) == body(2))
        #expect(notices.all.withLock { $0.count } == 1)
        await reader.close()
    }

    @Test func `a live stream without a segment is an error`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        let reader = try await open()
        let segment = try await reader.segment(0)
        await #expect(throws: MediaError.self) { _ = try await bytes(of: segment) }
        #expect(notices.all.withLock { $0.isEmpty })
        await reader.close()
    }

    @Test func `a live stream whose segments are all gone ends with the error`() async throws {
        let start = "#EXT-X-START:TIME-OFFSET=0"
        web.set("/list.m3u8", list(0...19, isEnded: false, start))
        publish(0...0)
        let reader = try await open()
        #expect(try await bytes(of: reader.segment(0)) == body(0))
        for number in 1...7 {
            #expect(try await bytes(of: reader.segment(number))?.isEmpty == true)
        }
        let last = try await reader.segment(8)
        await #expect(throws: MediaError.self) { _ = try await bytes(of: last) }
        #expect(notices.all.withLock { $0.count } == 7)
        await reader.close()
    }

    @Test func `segments that have left the list are lost, and that is said once`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...29)
        let reader = try await open()
        for number in 0...2 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", list(20...22, isEnded: false))
        let next = Task { try await bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { clock.nextWake != nil }
        clock.advance(by: .seconds(6))
        #expect(try await next.value.map { [body(20), body(21), body(22)].contains($0) } == true)
        await reader.close()
    }

    @Test func `a list that fails now is read again later`() async throws {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...9)
        let reader = try await open()
        for number in 0...2 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", nil)
        let next = Task { try await bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { clock.nextWake == .seconds(6) }
        clock.advance(to: .seconds(6))
        try await wait(for: "the next attempt") { clock.nextWake == .seconds(9) }
        web.set("/list.m3u8", list(1...3, isEnded: false))
        clock.advance(to: .seconds(9))
        #expect(try await next.value == body(3))
        await reader.close()
    }

    @Test func `a wait for the next segment ends when it is cancelled, and when the stream is closed`()
        async throws
    {
        web.set("/list.m3u8", list(0...2, isEnded: false))
        publish(0...2)
        let reader = try await open()
        for number in 0...2 { _ = try await reader.segment(number) }
        let cancelled = Task { try await reader.segment(3) }
        try await wait(for: "the clock") { clock.nextWake != nil }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        let closed = Task { try await reader.segment(3) }
        await reader.close()
        await #expect(throws: CancellationError.self) { _ = try await closed.value }
        #expect(web.openCount == 0)
    }
}
