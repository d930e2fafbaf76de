import Media
import System
import TestSupport
import Testing

@testable import Segments

@Suite struct SegmentedReaderTests {
    private let stage = StreamStage()
    private var web: FakeWeb { stage.web }

    @Test func `a recording brings its segments in order, each opened once, and ends`() async throws {
        web.set("/list.m3u8", stage.list(0...3, isEnded: true))
        stage.publish(0...3)
        let reader = try await stage.open()
        for number in 0...3 {
            #expect(try await stage.bytes(of: reader.segment(number)) == stage.body(number))
        }
        #expect(try await reader.segment(4) == nil)
        #expect(web.opened == ["/list.m3u8", "/s0.ts", "/s1.ts", "/s2.ts", "/s3.ts"])
        #expect(reader.duration == .seconds(24) && reader.report.live == nil)
        #expect(reader.report.requestCount == 5)
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `URLs of 4,096 characters are requested whole`() async throws {
        let query = "?t=" + String(repeating: "a", count: 4_096 - "http://radio.example/s0.ts?t=".utf8.count)
        web.set("/list.m3u8", stage.list(0...1, isEnded: true, suffix: query))
        for number in 0...1 { web.set("/s\(number).ts" + query, stage.body(number)) }
        let reader = try await stage.open()
        for number in 0...1 {
            #expect(try await stage.bytes(of: reader.segment(number)) == stage.body(number))
        }
        #expect(web.opened == ["/list.m3u8", "/s0.ts" + query, "/s1.ts" + query])
        await reader.close()
    }

    @Test func `a place is found by the stated durations, and read next`() async throws {
        web.set("/list.m3u8", stage.list(0...9, isEnded: true))
        stage.publish(0...9)
        let reader = try await stage.open()
        _ = try await reader.segment(0)
        let place = reader.place(at: .seconds(40))
        #expect(place == (6, .seconds(40)))
        #expect(try await stage.bytes(of: reader.segment(place.number)) == stage.body(6))
        #expect(try await stage.bytes(of: reader.segment(1)) == stage.body(1))
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
        web.set("/high/list.m3u8", stage.list(0...0, isEnded: true))
        web.set("/high/s0.ts", stage.body(0))
        let reader = try await stage.open("/master.m3u8")
        #expect(try await stage.bytes(of: reader.segment(0)) == stage.body(0))
        #expect(web.opened == ["/master.m3u8", "/high/list.m3u8", "/high/s0.ts"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `master playlists that lead to one another are refused`() async throws {
        web.set("/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmaster.m3u8\n")
        await #expect { _ = try await stage.open("/master.m3u8") } throws: { error in
            (error as? MediaError)?.code == .badPlaylist
        }
    }

    @Test func `segments are decrypted by their key, which is fetched once`() async throws {
        let tags = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""
        web.set("/list.m3u8", stage.list(0...2, isEnded: true, tags))
        web.set("/key", [UInt8](repeating: 9, count: 16))
        for number in 0...2 {
            // The sequence number is the vector.
            var before = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
            var cipher: [UInt8] = []
            let padding = 16 - stage.body(number).count % 16
            let plain = stage.body(number) + [UInt8](repeating: UInt8(padding), count: padding)
            for start in stride(from: 0, to: plain.count, by: 16) {
                before = zip(plain[start..<start + 16], before).map { $0 &+ $1 &+ 9 }
                cipher += before
            }
            web.set("/s\(number).ts", cipher)
        }
        let reader = try await stage.open()
        for number in 0...2 {
            #expect(try await stage.bytes(of: reader.segment(number)) == stage.body(number))
        }
        #expect(web.opened.filter { $0 == "/key" }.count == 1)
        await reader.close()
    }

    @Test(arguments: [0, 3, 15, 17, 32, 33, 2_000_000])
    func `a key of another length is an error`(count: Int) async throws {
        web.set("/list.m3u8", stage.list(0...0, isEnded: true, "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        web.set("/key", [UInt8](repeating: 1, count: count))
        stage.publish(0...0)
        let reader = try await stage.open()
        await #expect { _ = try await reader.segment(0) } throws: { error in
            let code = (error as? MediaError)?.code
            return code == (count <= 32 ? .badAnswer : .listTooLarge)
        }
        #expect(reader.report.fetchedBytes < 3_000_000)
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a byte range beyond the end of its file brings what there is`() async throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXTINF:6,
            #EXT-X-BYTERANGE:1000@20000
            all.ts
            #EXTINF:6,
            #EXT-X-BYTERANGE:1000@1152921504606846975
            all.ts
            #EXT-X-ENDLIST

            """
        web.set("/list.m3u8", text.replacing("1152921504606846975", with: "\((1 << 42) - 1000)"))
        web.set("/all.ts", stage.body(5))
        let reader = try await stage.open()
        #expect(try await stage.bytes(of: reader.segment(0)) == Array(stage.body(5)[20_000...]))
        #expect(try await stage.bytes(of: reader.segment(1)) == [])
        #expect(try await reader.segment(2) == nil)
        await reader.close()
        web.set("/list.m3u8", text)
        await #expect(throws: MediaError.self) { _ = try await stage.open() }
    }

    @Test func `an initialisation section is fetched once`() async throws {
        web.set(
            "/list.m3u8",
            stage.list(0...2, isEnded: true, "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"50@10\"")
        )
        web.set("/init.mp4", stage.body(99))
        stage.publish(0...2)
        let reader = try await stage.open()
        for number in 0...2 {
            let section = try #require(try await reader.segment(number)?.initialisation)
            #expect(section.number == 0)
            #expect(try await section.bytes.read(at: 0, count: 100) == Array(stage.body(99)[10..<60]))
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
        web.set("/all.ts", stage.body(5))
        let reader = try await stage.open()
        #expect(try await stage.bytes(of: reader.segment(0)) == Array(stage.body(5)[500..<1_500]))
        #expect(try await stage.bytes(of: reader.segment(1)) == Array(stage.body(5)[1_500..<2_200]))
        await reader.close()
    }

    @Test func `segments are read ahead once that is allowed, as far as their durations go`() async throws {
        web.set("/list.m3u8", stage.list(0...9, isEnded: true))
        stage.publish(0...9)
        let reader = try await stage.open(readAhead: .seconds(20))
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
        web.set("/list.m3u8", stage.list(0...1, isEnded: true))
        stage.publish(0...0)
        let reader = try await stage.open()
        let segment = try await reader.segment(1)
        await #expect(throws: MediaError.self) { _ = try await stage.bytes(of: segment) }
        stage.publish(1...1)
        #expect(try await stage.bytes(of: reader.segment(1)) == stage.body(1))
        await reader.close()
    }

    @Test func `a gap in a recording is silent, and is not requested`() async throws {
        let text = stage.list(0...2, isEnded: true).replacing(
            "#EXTINF:6,\ns1",
            with: "#EXT-X-GAP\n#EXTINF:6,\ns1"
        )
        web.set("/list.m3u8", text)
        stage.publish(0...2)
        let reader = try await stage.open()
        #expect(try await reader.segment(0)?.isGap == false)
        let gap = try #require(try await reader.segment(1))
        #expect(gap.isGap && gap.duration == .seconds(6))
        #expect(try await stage.bytes(of: reader.segment(2)) == stage.body(2))
        #expect(!web.opened.contains("/s1.ts"))
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `an error ahead of the decoder is none if it has passed when the decoder gets there`()
        async throws
    {
        web.set(
            "/list.m3u8",
            stage.list(0...1, isEnded: true).replacing("#EXTINF:6,\ns1", with: key + "#EXTINF:6,\ns1")
        )
        stage.publish(0...1)
        let reader = try await stage.open()
        _ = try await reader.segment(0)
        reader.allowReadAhead(bytesPerSecond: 1)
        try await wait(for: "the read-ahead") { web.opened.contains("/key") && web.openCount == 2 }
        web.set("/key", [UInt8](repeating: 1, count: 16))
        #expect(try await reader.segment(1) != nil)
        await reader.close()
    }

    private let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"

    @Test func `segments without a duration are read ahead in a bounded number`() async throws {
        let text = stage.list(0...199, isEnded: true).replacing("#EXTINF:6,", with: "#EXTINF:0,")
        web.set("/list.m3u8", text)
        stage.publish(0...199)
        let reader = try await stage.open()
        _ = try await reader.segment(0)
        reader.allowReadAhead(bytesPerSecond: 1)
        try await wait(for: "the bound") { web.openCount == 65 && web.opened.last == "/s63.ts" }
        await reader.close()
        #expect(web.openCount == 0)
    }
}
