import Media
import System
import TestSupport
import Testing

@testable import Segments

@Suite struct LiveReaderTests {
    private let stage = StreamStage()
    private var web: FakeWeb { stage.web }

    @Test func `a live stream begins three target durations before the end, and is not cached`() async throws
    {
        web.set("/list.m3u8", stage.list(10...19, isEnded: false))
        stage.publish(10...19)
        let reader = try await stage.open()
        // Times count from the oldest segment.
        #expect(stage.first(of: reader) == 17 && reader.startTime == .seconds(42))
        #expect(try await stage.bytes(of: reader.segment(17)) == stage.body(17))
        #expect(reader.report.live != nil && reader.duration == nil)
        #expect(web.rejected == ["/list.m3u8"])
        await reader.close()
    }

    @Test func `the list is read again when its segments are used up, by the clock`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...9)
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        let next = Task { try await stage.bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { stage.clock.nextWake == .seconds(6) }
        web.set("/list.m3u8", stage.list(1...3, isEnded: false, suffix: "?token=2"))
        web.set("/s3.ts?token=2", stage.body(3))
        #expect(web.opened.filter { $0 == "/list.m3u8" }.count == 1)
        stage.clock.advance(to: .seconds(6))
        #expect(try await next.value == stage.body(3))
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a live list from the cache is asked for anew`() async throws {
        web.set("/list.m3u8", stage.list(0...3, isEnded: false))
        stage.publish(0...3)
        let reader = try await stage.open(fetched: false)
        #expect(web.opened == ["/list.m3u8", "/list.m3u8"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a live stream that ends is played to its end`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...3)
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", stage.list(0...3, isEnded: true))
        let last = Task { try await stage.bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { stage.clock.nextWake != nil }
        stage.clock.advance(by: .seconds(6))
        #expect(try await last.value == stage.body(3))
        #expect(try await reader.segment(4) == nil)
        await reader.close()
    }

    @Test func `a live segment that is gone is passed over, and said once`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...0)
        stage.publish(2...2)
        let reader = try await stage.open()
        #expect(try await stage.bytes(of: reader.segment(0)) == stage.body(0))
        let gone = try await reader.segment(1)
        #expect(try await stage.bytes(of: gone)?.isEmpty == true)
        #expect(try await stage.bytes(of: gone)?.isEmpty == true)
        #expect(try await stage.bytes(of: reader.segment(2)) == stage.body(2))
        #expect(stage.notices.all.withLock { $0.count } == 1)
        await reader.close()
    }

    @Test func `a live stream without a segment is an error`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        let reader = try await stage.open()
        let segment = try await reader.segment(0)
        await #expect(throws: MediaError.self) { _ = try await stage.bytes(of: segment) }
        #expect(stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
    }

    @Test func `a live stream whose segments are all gone ends with the error`() async throws {
        let start = "#EXT-X-START:TIME-OFFSET=0"
        web.set("/list.m3u8", stage.list(0...19, isEnded: false, start))
        stage.publish(0...0)
        let reader = try await stage.open()
        #expect(try await stage.bytes(of: reader.segment(0)) == stage.body(0))
        for number in 1...7 {
            #expect(try await stage.bytes(of: reader.segment(number))?.isEmpty == true)
        }
        let last = try await reader.segment(8)
        await #expect(throws: MediaError.self) { _ = try await stage.bytes(of: last) }
        #expect(stage.notices.all.withLock { $0.count } == 7)
        await reader.close()
    }

    @Test func `after a stall behind the list it goes on at its oldest segment, and that is said once`()
        async throws
    {
        web.set("/list.m3u8", stage.list(0...5, isEnded: false))
        stage.publish(0...29)
        let reader = try await stage.open()
        for number in 3...4 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", stage.list(20...25, isEnded: false))
        stage.clock.advance(by: .seconds(120))
        let segment = try #require(try await reader.segment(5))
        // Its number follows, since the numbers of the encoder may have begun anew.
        #expect(segment.number == 6 && segment.start == .seconds(36))
        #expect(try await stage.bytes(of: segment) == stage.body(20))
        #expect(try await stage.bytes(of: reader.segment(7)) == stage.body(21))
        #expect(stage.notices.all.withLock { $0.map(\.code) } == [.cut])
        await reader.close()
    }

    @Test func `segments that left an overlapping list are lost, and the numbers go on`() async throws {
        web.set("/list.m3u8", stage.list(0...5, isEnded: false))
        stage.publish(0...29)
        let reader = try await stage.open()
        _ = try await reader.segment(3)
        web.set("/list.m3u8", stage.list(5...10, isEnded: false))
        stage.clock.advance(by: .seconds(20))
        let segment = try #require(try await reader.segment(4))
        #expect(segment.number == 5 && segment.start == .seconds(30))
        #expect(try await stage.bytes(of: segment) == stage.body(5))
        #expect(try await stage.bytes(of: reader.segment(6)) == stage.body(6))
        #expect(stage.notices.all.withLock { $0.count } == 1)
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a list that was read long before it is played is read again before the first segment`()
        async throws
    {
        web.set("/list.m3u8", stage.list(0...9, isEnded: false))
        stage.publish(0...109)
        stage.clock.advance(by: .seconds(600))
        web.set("/list.m3u8", stage.list(100...109, isEnded: false))
        let old = FakeWeb(["/list.m3u8": Array(stage.list(0...9, isEnded: false).utf8)])
        let location = FakeWeb.location("/list.m3u8")
        let held = old.open(location, answeredAt: .zero)
        let reader = try await SegmentedReader.open(held, at: location, stage.parts())
        let segment = try #require(try await reader.segment(stage.first(of: reader)))
        #expect(segment.number == 107 && segment.start == .seconds(42))
        #expect(try await stage.bytes(of: segment) == stage.body(107))
        #expect(web.opened == ["/list.m3u8", "/s107.ts"] && stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
    }

    @Test func `an encoder that was restarted goes on`() async throws {
        web.set("/list.m3u8", stage.list(100...102, isEnded: false))
        stage.publish(0...102)
        let reader = try await stage.open()
        for number in 100...102 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", stage.list(0...0, isEnded: false))
        let next = Task { try await reader.segment(103) }
        try await wait(for: "the clock") { stage.clock.nextWake != nil }
        stage.clock.advance(by: .seconds(6))
        let segment = try #require(try await next.value)
        #expect(segment.discontinuity == 1 && segment.start == .seconds(18))
        #expect(try await stage.bytes(of: segment) == stage.body(0))
        #expect(stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
    }

    // MARK: Seeks

    @Test func `a place among the segments that the list names is read next, before or after`() async throws {
        web.set("/list.m3u8", stage.list(10...19, isEnded: false))
        stage.publish(10...19)
        let reader = try await stage.open()
        _ = try await reader.segment(17)
        for (time, number) in [(20, 13), (0, 10), (-5, 10), (50, 18), (1_000, 19)] {
            let place = reader.place(at: .seconds(time))
            let segment = try #require(try await reader.segment(place.number))
            #expect(segment.number == number && segment.start == .seconds((number - 10) * 6))
            #expect(try await stage.bytes(of: segment) == stage.body(number))
            #expect(place.time == (0...50 ~= time ? .seconds(time) : segment.start))
        }
        // One request for each.
        #expect(web.opened.dropFirst() == ["/s17.ts", "/s13.ts", "/s10.ts", "/s18.ts", "/s19.ts"])
        #expect(stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a seek ahead uses what was read ahead`() async throws {
        web.set("/list.m3u8", stage.list(10...19, isEnded: false))
        stage.publish(10...19)
        let reader = try await stage.open()
        _ = try await reader.segment(17)
        reader.allowReadAhead(bytesPerSecond: 16_000)
        try await wait(for: "the read-ahead") { web.opened.last == "/s19.ts" && stage.clock.nextWake != nil }
        let before = web.opened.count
        #expect(try await reader.segment(reader.place(at: .seconds(55)).number)?.number == 19)
        #expect(web.opened.count == before)
        await reader.close()
    }

    // MARK: Requests

    @Test func `a list that has not changed is not sent again`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...3)
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        let next = Task { try await stage.bytes(of: reader.segment(3)) }
        // The first list came without its validators.
        for (time, unchanged) in [(6, 0), (9, 1), (12, 2)] {
            try await wait(for: "the clock") { stage.clock.nextWake == .seconds(time) }
            stage.clock.advance(to: .seconds(time))
            try await wait(for: "the answer") { (stage.clock.nextWake ?? .zero) > .seconds(time) }
            #expect(web.state.withLock { $0.unchanged.count } == unchanged)
        }
        let fetched = reader.report.fetchedBytes
        web.set("/list.m3u8", stage.list(1...3, isEnded: false))
        stage.clock.advance(to: .seconds(15))
        #expect(try await next.value == stage.body(3))
        #expect(reader.report.fetchedBytes > fetched && reader.report.requestCount == 1 + 4 + 4)
        await reader.close()
    }

    private static func master(_ token: Int) -> String {
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\"\nlist.m3u8?t=\(token)\n"
    }

    @Test func `after a list whose token has expired the master playlist is asked again, once`() async throws
    {
        web.set("/master.m3u8", Self.master(1))
        web.set("/list.m3u8?t=1", stage.list(0...2, isEnded: false))
        stage.publish(0...9)
        let reader = try await stage.open("/master.m3u8")
        for number in 0...2 { _ = try await reader.segment(number) }
        let next = Task { try await stage.bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { stage.clock.nextWake != nil }
        web.set("/list.m3u8?t=1", nil)
        web.set("/list.m3u8?t=2", stage.list(1...3, isEnded: false))
        web.set("/master.m3u8", Self.master(2))
        stage.clock.advance(by: .seconds(6))
        #expect(try await next.value == stage.body(3))
        let lists = web.opened.filter { $0.contains("m3u8") }
        let asked = ["/master.m3u8", "/list.m3u8?t=1"]
        #expect(lists == asked + ["/list.m3u8?t=1", "/master.m3u8", "/list.m3u8?t=2"])
        // From now on the new one is asked.
        web.set("/list.m3u8?t=2", stage.list(2...4, isEnded: false))
        let further = Task { try await stage.bytes(of: reader.segment(4)) }
        try await wait(for: "the clock") { stage.clock.nextWake == .seconds(12) }
        stage.clock.advance(to: .seconds(12))
        #expect(try await further.value == stage.body(4))
        #expect(web.opened.filter { $0.contains("m3u8") }.dropFirst(5) == ["/list.m3u8?t=2"])
        #expect(stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a segment whose token has expired is loaded from the place that a new list names`()
        async throws
    {
        web.set("/master.m3u8", Self.master(1))
        web.set("/list.m3u8?t=1", stage.list(0...5, isEnded: false, suffix: "?t=1"))
        for number in 0...9 { web.set("/s\(number).ts?t=\(number < 5 ? 1 : 2)", stage.body(number)) }
        let reader = try await stage.open("/master.m3u8")
        for number in 3...4 {
            #expect(try await stage.bytes(of: reader.segment(number)) == stage.body(number))
        }
        web.set("/list.m3u8?t=1", stage.list(0...6, isEnded: false, suffix: "?t=1"))
        web.set("/list.m3u8?t=2", stage.list(0...6, isEnded: false, suffix: "?t=2"))
        web.set("/master.m3u8", Self.master(2))
        for number in 5...6 {
            #expect(try await stage.bytes(of: reader.segment(number)) == stage.body(number))
        }
        #expect(
            web.opened.dropFirst(4) == [
                "/s5.ts?t=1", "/master.m3u8", "/list.m3u8?t=2", "/s5.ts?t=2", "/s6.ts?t=2",
            ]
        )
        #expect(stage.notices.all.withLock { $0.isEmpty })
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a redirected list is asked for where it was, and at its own URL once that is refused`()
        async throws
    {
        web.redirect("/list.m3u8", to: "/a/list.m3u8")
        web.set("/a/list.m3u8", stage.list(0...2, isEnded: false, "", suffix: ""))
        for path in ["/s", "/a/s", "/b/s"] {
            for number in 0...9 { web.set("\(path)\(number).ts", stage.body(number)) }
        }
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        for number in 3...5 {
            if number == 5 {
                web.set("/a/list.m3u8", nil)
                web.redirect("/list.m3u8", to: "/b/list.m3u8")
            }
            let place = number == 5 ? "/b" : "/a"
            web.set("\(place)/list.m3u8", stage.list(number - 2...number, isEnded: false))
            let next = Task { try await stage.bytes(of: reader.segment(number)) }
            try await wait(for: "the clock") { stage.clock.nextWake == .seconds((number - 2) * 6) }
            stage.clock.advance(to: .seconds((number - 2) * 6))
            #expect(try await next.value == stage.body(number))
            #expect(web.opened.last == "\(place)/s\(number).ts")
        }
        let lists = ["/list.m3u8", "/list.m3u8", "/a/list.m3u8", "/a/list.m3u8", "/list.m3u8"]
        #expect(web.opened.filter { $0.contains("m3u8") } == lists)
        await reader.close()
    }

    // MARK: Titles

    @Test func `titles come with the segments in which they begin`() async throws {
        let tags = """
            #EXT-X-PROGRAM-DATE-TIME:2026-11-27T08:00:00Z
            #EXT-X-DATERANGE:START-DATE="2026-11-27T07:59:00Z",X-TITLE="Before"
            #EXT-X-DATERANGE:START-DATE="2026-11-27T08:00:08Z",X-TITLE="Within",X-ARTIST="A"
            """
        let text = stage.list(0...3, isEnded: false, tags).replacing(
            "#EXTINF:6,\ns3",
            with: "#EXTINF:6,Third\ns3"
        )
        web.set("/list.m3u8", text)
        stage.publish(0...3)
        let reader = try await stage.open()
        func titles(_ number: Int) async throws -> [String] {
            try await reader.segment(number)?.titles.map { "\($0.time.seconds) \($0.text)" } ?? []
        }
        #expect(try await titles(1) == ["-6.0 Before", "2.0 A - Within"])
        #expect(try await titles(2) == ["-4.0 A - Within"])
        #expect(try await titles(3) == ["-10.0 A - Within", "0.0 Third"])
        await reader.close()
    }

    @Test func `a list that fails now is read again later`() async throws {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...9)
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        web.set("/list.m3u8", nil)
        let next = Task { try await stage.bytes(of: reader.segment(3)) }
        try await wait(for: "the clock") { stage.clock.nextWake == .seconds(6) }
        stage.clock.advance(to: .seconds(6))
        try await wait(for: "the next attempt") { stage.clock.nextWake == .seconds(9) }
        web.set("/list.m3u8", stage.list(1...3, isEnded: false))
        stage.clock.advance(to: .seconds(9))
        #expect(try await next.value == stage.body(3))
        await reader.close()
    }

    @Test func `a wait for the next segment ends when it is cancelled, and when the stream is closed`()
        async throws
    {
        web.set("/list.m3u8", stage.list(0...2, isEnded: false))
        stage.publish(0...2)
        let reader = try await stage.open()
        for number in 0...2 { _ = try await reader.segment(number) }
        let cancelled = Task { try await reader.segment(3) }
        try await wait(for: "the clock") { stage.clock.nextWake != nil }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        let closed = Task { try await reader.segment(3) }
        await reader.close()
        await #expect(throws: CancellationError.self) { _ = try await closed.value }
        #expect(web.openCount == 0)
    }
}
