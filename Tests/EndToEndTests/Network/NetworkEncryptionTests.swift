import Foundation
import TestSupport
import Testing

/// TLS and HTTP/2 with nginx and an authority that no system trusts.
struct NetworkEncryptionTests {
    private let stage: Stage
    private let authority: PrivateAuthority
    private let certificate: PrivateAuthority.Certificate

    init() async throws {
        stage = try await Stage()
        authority = try await PrivateAuthority()
        certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
    }

    @Test(arguments: ["--cacert", "SSL_CERT_FILE"])
    func `a private authority is trusted when named, and windows share one HTTP/2 connection`(
        way: String
    ) async throws {
        let nginx = try await stage.nginx(certificate: certificate)
        let isOption = way.hasPrefix("-")
        let run = try await stage.hear(
            (isOption ? [way, authority.path] : []) + [nginx.url("/song.mp3")],
            environment: isOption ? [:] : [way: authority.path]
        )
        try await expectSong(run)
        try await nginx.settle()
        let accesses = nginx.accesses
        #expect(accesses.count >= 2)
        #expect(accesses.allSatisfy { $0.version == "HTTP/2.0" && $0.status == 206 })
        #expect(Set(accesses.map(\.connection)).count == 1)
    }

    @Test func `an authority that was not named, and a certificate for another host, are not trusted`()
        async throws
    {
        let nginx = try await stage.nginx(certificate: certificate)
        let unknown = try await PrivateAuthority()
        let foreign = try await authority.certificate(for: "other.example")
        let other = try await stage.nginx(certificate: foreign)
        let file = stage.folder.path("none.pem")
        for (server, options, environment, words) in [
            (nginx, [], [:], "127.0.0.1"), (nginx, ["--cacert", unknown.path], [:], "127.0.0.1"),
            (other, ["--cacert", authority.path], [:], "127.0.0.1"),
            // A missing file is named.
            (nginx, [], ["SSL_CERT_FILE": file], "SSL_CERT_FILE"),
        ] as [(NginxServer, [String], [String: String?], String)] {
            let run = try await stage.hear(options + [server.url("/song.mp3")], environment: environment)
            expectRefused(run, words)
            #expect(server.accesses.isEmpty)
        }
    }

    @Test func `a cached track plays whatever certificate the server shows`() async throws {
        let nginx = try await stage.nginx(certificate: certificate)
        try await expectSong(try await stage.hear(["--cacert", authority.path, nginx.url("/song.mp3")]))
        try await nginx.settle()
        let count = nginx.accesses.count
        try await expectSong(try await stage.hear([nginx.url("/song.mp3")]))
        try await nginx.settle()
        #expect(nginx.accesses.count == count)
    }

    @Test func `a redirect to a server without encryption is not followed`() async throws {
        let plain = try await stage.nginx()
        let nginx = try await stage.nginx(
            certificate: certificate,
            extra: "location / { return 302 \(plain.baseURL)$request_uri; }"
        )
        let run = try await stage.hear(["--cacert", authority.path, nginx.url("/song.mp3")])
        expectRefused(run, "redirected from https")
        try await nginx.settle()
        #expect(nginx.accesses.map(\.status) == [302])
        #expect(plain.accesses.isEmpty)
    }

    private func expectRefused(_ run: Ending, _ words: String) {
        #expect(run.status == 2 && run.samples.isEmpty)
        #expect(run.failure?.code == "tls-failed")
        #expect(run.failure?.message.contains(words) == true)
    }
}
