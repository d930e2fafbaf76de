import Foundation
import Glibc
@testable import HTTP
import Media
import TestSupport
import Testing

/// HTTP/2 over TLS, with nginx.
struct HTTP2Tests {
    @Test func `windows of one host share one connection`() async throws {
        let stage = try await HTTP2Stage(fileSize: 3_000_000)
        try await stage.fixture.run { transport in
            let first = try await transport.get(stage.url, 0..<65_536)
            #expect(first.answer.wire.version == "HTTP/2")
            #expect(first.answer.wire.reusedConnection == false)
            #expect(try await first.body.all().count == 65_536)
            // Both are in progress at once: neither is read before both responses have arrived.
            let second = try await transport.get(stage.url, 65_536..<1_000_000)
            let third = try await transport.get(stage.url, 2_000_000..<3_000_000)
            for response in [second, third] {
                #expect(response.answer.wire.reusedConnection == true)
            }
            #expect(try await third.body.all().count == 1_000_000)
            #expect(try await second.body.all().count == 1_000_000 - 65_536)
            try await wait(for: "the log") { stage.nginx.accesses.count == 3 }
            #expect(stage.nginx.accesses.allSatisfy { $0.version == "HTTP/2.0" && $0.status == 206 })
            #expect(Set(stage.nginx.accesses.map(\.connection)).count == 1)
        }
    }

    @Test func `a cancelled window leaves the connection to the next`() async throws {
        let stage = try await HTTP2Stage(fileSize: 400_000_000)
        try await stage.fixture.run { transport in
            for _ in 0..<3 {
                let window = try await transport.get(stage.url, 0..<400_000_000)
                _ = try await window.body.next()
                window.body.cancel()
            }
            let last = try await transport.get(stage.url, 5..<6)
            #expect(last.answer.wire.reusedConnection == true)
            #expect(try await last.body.all().count == 1)
            try await wait(for: "the log") { stage.nginx.accesses.count == 4 }
            // Cancelling stopped the server: of 400 MB each, it has sent only the bytes in flight, about 16
            // MB on loopback.
            #expect(stage.nginx.accesses.allSatisfy { $0.bytes < 64_000_000 })
            #expect(Set(stage.nginx.accesses.map(\.connection)).count == 1)
        }
    }

    @Test func `an unbounded body that is not read is paused within bounds`() async throws {
        let stage = try await HTTP2Stage(fileSize: 400_000_000)
        try await stage.fixture.run { transport in
            let response = try await transport.get(stage.url)
            let body = try #require(response.body as? Transfer)
            try await wait(for: "the transfer to be paused") { body.state.isPaused }
            // libcurl still receives what nginx sends until the stream's window is full.
            var pages = 0
            var still = 0
            try await wait(for: "memory to stand still") {
                let now = Self.residentPages
                still = now == pages ? still + 1 : 0
                pages = now
                return still == 50
            }
            body.cancel()
            let last = try await transport.get(stage.url, 5..<6)
            #expect(try await last.body.all().count == 1)
            try await wait(for: "the log") { stage.nginx.accesses.count == 2 }
            // Our own 16 MiB and the sockets' buffers: while paused, libcurl does not open the stream's
            // window.
            #expect(stage.nginx.accesses[0].bytes < 64_000_000)
        }
    }

    @Test func `an untrusted certificate is refused`() async throws {
        let stage = try await HTTP2Stage(fileSize: 1)
        try await TransportFixture().run { transport in
            let code = await transport.failure(stage.url)?.code
            #expect(code == .tlsFailed)
        }
    }

    /// Pages of memory that this process has.
    private static var residentPages: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}

/// nginx with HTTP/2 over TLS, and a transport that trusts it.
struct HTTP2Stage {
    let folder: TemporaryFolder
    let authority: PrivateAuthority
    let nginx: NginxServer
    let fixture: TransportFixture
    let url: WebURL

    init(fileSize: Int) async throws {
        folder = try TemporaryFolder()
        let path = try folder.write("", to: "music.mp3")
        // A hole, which takes no time to write.
        try #require(truncate(path, fileSize) == 0)
        authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        nginx = try await NginxServer(serving: folder.path, certificate: certificate)
        url = try #require(WebURL(nginx.url("/music.mp3")))
        fixture = TransportFixture { [authority] in $0.certificateFile = authority.path }
    }
}
