import Foundation
import TestSupport
import Testing

/// TLS and HTTP/2 with nginx and an authority that no system trusts.
struct NetworkEncryptionTests {
    @Test(arguments: ["--cacert", "SSL_CERT_FILE"])
    func `a private authority is trusted when named, and windows share one HTTP/2 connection`(
        way: String
    ) async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let isOption = way.hasPrefix("-")
        let run = try await stage.play(
            (isOption ? [way, authority.path] : []) + [nginx.url("/song.mp3")],
            environment: isOption ? [:] : [way: authority.path]
        )
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        let accesses = nginx.accesses
        #expect(accesses.count >= 2)
        #expect(accesses.allSatisfy { $0.version == "HTTP/2.0" && $0.status == 206 })
        #expect(Set(accesses.map(\.connection)).count == 1)
    }

    @Test func `an authority that nobody has named is not trusted`() async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let other = try await PrivateAuthority()
        for options in [[], ["--cacert", other.path]] {
            let run = try await stage.play(options + [nginx.url("/song.mp3")])
            try expectRefused(run, stage, nginx)
        }
    }

    @Test func `a certificate for another host is not trusted`() async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "other.example")
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let run = try await stage.play(["--cacert", authority.path, nginx.url("/song.mp3")])
        try expectRefused(run, stage, nginx)
    }

    @Test func `a file of authorities that is not there is named`() async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let environment = ["SSL_CERT_FILE": stage.folder.path("none.pem")]
        let run = try await stage.play([nginx.url("/song.mp3")], environment: environment)
        try expectRefused(run, stage, nginx)
        #expect(try run.failure?.message.contains("SSL_CERT_FILE") == true)
    }

    @Test func `what is kept plays whatever certificate the server shows`() async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let trusting = try await stage.play(["--cacert", authority.path, nginx.url("/song.mp3")])
        #expect(trusting.status == 0, "\(trusting.errorText)")
        let size = try #require(FileManager.default.contents(atPath: stage.webFolder + "/song.mp3")).count
        try await wait(for: "the log") { nginx.accesses.reduce(0) { $0 + $1.bytes } >= size }
        let count = nginx.accesses.count
        let run = try await stage.play([nginx.url("/song.mp3")])
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(nginx.accesses.count == count)
    }

    @Test func `a redirect to a server without encryption is not followed`() async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let plain = try await NginxServer(serving: stage.webFolder)
        let nginx = try await NginxServer(
            serving: stage.webFolder,
            certificate: certificate,
            extra: "location / { return 302 \(plain.baseURL)$request_uri; }"
        )
        let run = try await stage.play(["--cacert", authority.path, nginx.url("/song.mp3")])
        #expect(run.status == 2 && run.samples.isEmpty)
        #expect(try run.failure?.code == "tls-failed")
        #expect(try run.failure?.message.contains("redirected from https") == true)
        #expect(nginx.accesses.map(\.status) == [302])
        #expect(plain.accesses.isEmpty)
    }

    private func expectRefused(_ run: NetworkRun, _ stage: NetworkStage, _ nginx: NginxServer) throws {
        #expect(run.status == 2)
        #expect(try run.failure?.code == "tls-failed")
        #expect(try run.failure?.message.contains("127.0.0.1") == true)
        #expect(run.samples.isEmpty)
        #expect(nginx.accesses.isEmpty)
    }
}
