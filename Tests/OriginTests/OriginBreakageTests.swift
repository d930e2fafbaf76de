import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// The rarer faults: heads, codings, endless streams and URLs that expire.
@Suite struct OriginBreakageTests {
    private let music = ByteFixtures.bytes(count: 1_000, seed: 1)

    @Test func `fields can be repeated, folded, in lower case and very many`() async throws {
        let repeated = try await exchange([.repeatedFields(2)])
        #expect(repeated.head.components("Content-Length: 100\r\n") == 2)
        let folded = try await exchange([.foldedFields]).head
        #expect(folded.contains("\r\nContent-Range:\r\n bytes 100-199/1000\r\n"))
        #expect(try await exchange([.lowerCaseFields]).head.contains("\r\ncontent-length: 100\r\n"))
        let padded = try await exchange([.paddedHead(bytes: 20_000)])
        #expect(padded.head.utf8.count > 20_000 && padded.rest == Array(music[100..<200]))
        #expect(try await exchange([.addedField("ETag", "\"2\"")]).head.components("ETag: ") == 2)
    }

    @Test func `a gate lets a head through byte by byte`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold("/a.mp3", .afterHeadBytesOfEach(4))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3", "Connection: close")
        try await gate.reached()
        #expect(await client.read(4) == Array("HTTP".utf8))
        for byte in "/1.1 200".utf8 {
            gate.letPass(1)
            #expect(await client.read(1) == [byte])
        }
        try await wait(for: "the log to show it held") { server.log.requests[0].isHeld }
        gate.release()
        let rest = await client.readToEnd()
        #expect(rest.suffix(1_000).elementsEqual(music))
        await server.stop()
    }

    @Test func `the line can begin as ICY does, and as HTTP 1.0 does, which knows no chunks`() async throws {
        #expect(try await exchange([.protocolName("ICY"), .ignoresRanges]).head.hasPrefix("ICY 200 OK\r\n"))
        let old = try await exchange([.chunked, .protocolName("HTTP/1.0")])
        #expect(old.head.hasPrefix("HTTP/1.0 206 ") && !old.head.contains("chunked"))
        #expect(old.rest == Array(music[100..<200]))
    }

    @Test func `parts can be shorter, of another total, in a multipart body, and lengths off`() async throws {
        let short = try await exchange([.shortParts(atMost: 30)])
        #expect(short.head.contains("\r\nContent-Range: bytes 100-129/1000\r\n") && short.rest.count == 30)
        #expect(try await exchange([.total(777)]).head.contains("Content-Range: bytes 100-199/777\r\n"))
        let multipart = try await exchange([.multipart])
        #expect(multipart.head.contains("Content-Type: multipart/byteranges; boundary=PART\r\n"))
        #expect(!multipart.head.contains("Content-Range"))
        let body = String(decoding: multipart.rest, as: Unicode.ASCII.self)
        #expect(body.contains("Content-Range: bytes 100-199/1000\r\n\r\n"))
        #expect(multipart.rest.count > 100)
        let less = try await exchange([.lengthOff(by: -10)])
        #expect(less.head.contains("\r\nContent-Length: 90\r\n") && less.rest.count == 90)
        let more = try await exchange([.lengthOff(by: 10)])
        #expect(more.head.contains("\r\nContent-Length: 110\r\n") && more.rest.count == 100)
    }

    @Test func `gzip is real, and ranges of it count its own bytes`() async throws {
        let large = ByteFixtures.bytes(count: 150_000, seed: 3)
        let server = try TestOrigin(["/a.mp3": large], faults: [.gzip])
        let whole = try await RunningProcess.run("curl", ["-s", "--compressed", server.url("/a.mp3")])
        #expect(whole == large)
        let client = try RawClient(server.origin)
        try client.get("/a.mp3", "Range: bytes=0-1")
        let part = await client.readAnswer()
        #expect(part.body == [0x1F, 0x8B] && part.head.contains("\r\nContent-Encoding: gzip\r\n"))
        await server.stop()
    }

    @Test func `ranges can be refused, a field or a query demanded`() async throws {
        #expect(try await exchange([.refusesRanges(status: 403)]).head.hasPrefix("HTTP/1.1 403 "))
        #expect(try await exchange([.refusesRanges(status: 403)], []).rest == music)
        let demand = Fault.demandsField("Authorization", "Basic eDp5")
        #expect(try await exchange([demand]).head.hasPrefix("HTTP/1.1 401 "))
        #expect(try await exchange([demand], ["Authorization: Basic eDp5"]).rest == music)
        let expiring = Fault.demandsQuery("token=2", status: 410)
        #expect(try await exchange([expiring], target: "/a.mp3?token=1").head.hasPrefix("HTTP/1.1 410 "))
        #expect(try await exchange([expiring], [], target: "/a.mp3?token=2").rest == music)
    }

    @Test func `a station repeats its music and puts titles at their offsets`() async throws {
        let stream = LiveStream(name: "Rädio", bitRate: 128, interval: 400, titles: [.init(at: 700, "A; B")])
        let server = try TestOrigin(["/live": music], faults: [.live(stream)])
        let plain = try RawClient(server.origin)
        try plain.get("/live")
        let head = await plain.readHead()
        #expect(head.contains("\r\nicy-name: Rädio\r\nicy-br: 128\r\n") && !head.contains("icy-metaint"))
        #expect(!head.contains("Content-Length") && !head.contains("ETag") && !head.contains("Accept-Ranges"))
        #expect(await plain.read(2_500) == music + music + music[..<500])
        let titled = try RawClient(server.origin)
        try titled.get("/live", "Icy-MetaData: 1", "Range: bytes=0-99")
        #expect(await titled.readHead().contains("HTTP/1.1 200 OK\r\n"))
        var expected = Array(music[..<400]) + [0] + music[400..<800]
        expected += [2] + Array("StreamTitle='A; B';".utf8) + [UInt8](repeating: 0, count: 13)
        expected += music[800...] + music[..<200] + [0] + music[200..<600]
        #expect(await titled.read(expected.count) == expected)
        await server.stop()
    }

    @Test func `a station that is cut goes on elsewhere when it is asked again`() async throws {
        let server = try TestOrigin(["/live": music])
        server.origin.script(
            [[.live(LiveStream()), .cut(afterBytes: 300)], [.live(LiveStream(start: 900))]],
            for: "/live"
        )
        let first = try RawClient(server.origin)
        try first.get("/live")
        _ = await first.readHead()
        #expect(await first.readToEnd() == Array(music[..<300]))
        let second = try RawClient(server.origin)
        try second.get("/live")
        _ = await second.readHead()
        let expected = Array(music[900...]) + Array(music[..<100])
        #expect(await second.read(200) == expected)
        #expect(server.log.connectionCount == 2 && server.log.requests.map(\.connection) == [1, 2])
        await server.stop()
    }

    @Test
    func `the program prints its address, takes faults for a path, for some answers or for all, and logs`()
        async throws
    {
        let folder = try TemporaryFolder()
        try folder.write(music, to: "a.mp3")
        try folder.write(music, to: "b.mp3")
        let program = try RunningProcess(
            BuiltProducts.origin,
            [
                folder.path, "--fault", "/a.mp3=1x:status:503,retry-after:7", "--fault", "*=no-validators",
                "--no-ranges", "--log", folder.path("log"),
            ]
        )
        let line = try await program.waitForLine { $0.hasPrefix("listening on http://127.0.0.1:") }
        let url = String(line.dropFirst("listening on ".count))
        let heads = try await RunningProcess.run("curl", ["-s", "-D", "-", url + "a.mp3", url + "a.mp3"])
        let text = String(decoding: heads, as: Unicode.ASCII.self)
        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("\r\nRetry-After: 7\r\n"))
        #expect(text.contains("HTTP/1.1 200 OK\r\n") && !text.contains("ETag"))
        let ranged = try await RunningProcess.run("curl", ["-s", "-r", "5-9", url + "b.mp3"])
        #expect(ranged == music)
        try await wait(for: "the log") {
            let log = (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
            // Not always the last line: an answer is logged some time after its last byte was sent.
            return log.contains("GET /b.mp3 range=bytes=5-9 status=200 sent=1000 from=0 finished\n")
        }
        program.signal(15)
        #expect(try await program.waitForExit() == 0)
        let wrong = try RunningProcess(BuiltProducts.origin, [folder.path, "--fault", "/a.mp3=nonsense"])
        #expect(try await wrong.waitForExit() == 64)
    }
}

extension String {
    /// The number of occurrences of `text`.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
