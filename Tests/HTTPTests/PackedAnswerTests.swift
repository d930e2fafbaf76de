import HTTP
import Media
import System
import TestSupport
import Testing

/// Servers that compress a body that was requested uncompressed.
struct PackedAnswerTests {
    private let fixture = TransportFixture()

    @Test func `a small answer that unpacks to very much waits for its reader and is whole`() async throws {
        let music = [UInt8](repeating: 7, count: 24 * 1024 * 1024)
        let server = try answering("Content-Encoding: x-gzip\r\n", try await packed(music))
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            var count = 0
            while let chunk = try await body.next() {
                count += chunk.count
                guard chunk.allSatisfy({ $0 == 7 }) else { break }
            }
            #expect(count == music.count)
        }
    }

    @Test(
        arguments: [
            "Content-Encoding: compress\r\n", "Content-Encoding: gzip\r\n",
            "Content-Encoding: utf-8, gzip\r\n",
        ]
    )
    func `what cannot be unpacked says so`(field: String) async throws {
        let server = try answering(field, Array("this was never packed".utf8))
        try await fixture.run(server) { transport in
            let response = try await transport.get(server.url())
            let error = await mediaError { _ = try await response.body.next() }
            #expect(error?.code == .decodingFailed)
            #expect(error?.cause.string.contains("content coding") == true)
        }
    }

    @Test func `what unpacks to more than libcurl holds says so, and is not worth another try`() async throws
    {
        let once = try await packed([UInt8](repeating: 7, count: 200 * 1024 * 1024))
        let isClosed = Locked(false)
        let server = try answering("Content-Encoding: gzip, gzip\r\n", try await packed(once)) {
            isClosed.withLock { $0 = true }
        }
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            // A reader that keeps up with libcurl leaves it nothing to hold, and reads all 200 MB.
            try await wait(for: "libcurl to give up") { isClosed.withLock { $0 } }
            let error = await mediaError { while try await body.next() != nil {} }
            #expect(error?.code == .decodingFailed && error?.isLasting == true)
            #expect(error?.cause.string.contains("unpacks to too much") == true)
        }
    }

    @Test(arguments: ["aws-chunked", "utf-8", "binary", "none", "UTF-8, binary", "audio/mpeg"])
    func `a word that is no coding changes nothing: ranges count, and only the first request is repeated`(
        word: String
    ) async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 206 P\r\nContent-Encoding: \(word)\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\nok"
        ])
        try await fixture.run(server) { transport in
            for count in [2, 1, 1] {
                let response = try await transport.get(server.url(), 2..<4)
                #expect(response.answer.kind == .part(range: 2..<4, total: 4) && !response.answer.isEncoded)
                #expect(response.answer.requestCount == count)
                #expect(try await response.body.text() == "ok")
            }
        }
    }

    @Test func `a server that names a coding and none in turn is not asked for ever`() async throws {
        let fields = ["utf-8", "gzip"].map {
            "HTTP/1.1 200 OK\r\nContent-Encoding: \($0)\r\nContent-Length: 2\r\n\r\nok"
        }
        let server = try ScriptedServer(answers: fields + fields + fields)
        try await fixture.run(server) { transport in
            let count = try await transport.get(server.url()).answer.requestCount
            #expect(count == 3)
        }
    }

    private func answering(
        _ field: String,
        _ body: [UInt8],
        closed: @escaping @Sendable () -> Void = {}
    ) throws -> ScriptedServer {
        try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\(field)Content-Length: \(body.count)\r\n\r\n")
            connection.send(body)
            connection.waitForClose()
            closed()
        }
    }

    private func packed(_ bytes: [UInt8]) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes, to: "music")
        return try await RunningProcess.run("gzip", ["--stdout", path])
    }
}
