import Foundation
import TestSupport
import Testing

/// User names and passwords: every way to give them, and that they go no further.
struct NetworkCredentialTests {
    enum Way: String, CaseIterable, Sendable {
        case url
        case netrc
        case headerFile
    }

    private static let password = "hush-hush-4711"
    /// `me:hush-hush-4711`, as it goes over the line.
    private static let encoded = Data("me:\(password)".utf8).base64EncodedString()
    private static let wrong = "wrong-wrong-0815"

    private let stage: Stage

    init() async throws { stage = try await Stage() }

    @Test(arguments: Way.allCases)
    func `music behind a password plays, and the password goes nowhere else`(way: Way) async throws {
        let nginx = try await locked()
        let run = try await stage.hear(try source(nginx, way))
        try await expectSong(run)
        try await nginx.settle()
        #expect(nginx.accesses.count >= 2)
        #expect(nginx.accesses.allSatisfy { $0.authorization == "Basic \(Self.encoded)" && $0.status == 206 })
        #expect(stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
    }

    @Test(arguments: Way.allCases)
    func `a wrong password is one clear error without it`(way: Way) async throws {
        let nginx = try await locked()
        let run = try await stage.hear(try source(nginx, way, Self.wrong))
        #expect(run.status == 2)
        let failure = try #require(run.failure)
        #expect(failure.code == "http-status")
        #expect(failure.message.contains("\(nginx.url("/song.mp3")): "))
        #expect(failure.message.contains("401"))
        #expect(nginx.accesses.allSatisfy { $0.status == 401 })
        let encoded = Data("me:\(Self.wrong)".utf8).base64EncodedString()
        #expect(stage.leaks(of: [Self.wrong, encoded], in: run) == [])
    }

    @Test(arguments: [Way.netrc, .headerFile])
    func `a server that only a playlist names gets no secret`(way: Way) async throws {
        let stranger = try await stage.nginx()
        try stage.folder.write("\(stranger.url("/song.mp3"))\n", to: "web/list.m3u8")
        let nginx = try await locked()
        let run = try await stage.hear(try source(nginx, way, path: "/list.m3u8"))
        try await expectSong(run)
        #expect(nginx.accesses.map(\.status).allSatisfy { $0 < 300 })
        #expect(!stranger.accesses.isEmpty)
        #expect(stranger.accesses.allSatisfy { $0.authorization.isEmpty })
    }

    @Test func `a password in a playlist is sent only to a server that was named as a source`() async throws {
        let stranger = try await locked()
        let entry = "http://me:\(Self.password)@127.0.0.1:\(stranger.port)/song.mp3"
        let list = try stage.folder.write("\(entry)\n", to: "list.m3u8")
        let refused = try await stage.hear([list])
        #expect(refused.status == 2)
        let failure = try #require(refused.failure)
        #expect(failure.code == "http-status")
        #expect(failure.message.hasPrefix("\(stranger.url("/song.mp3")): "))
        #expect(
            failure.message.contains("(401), and those in a playlist are not sent; put them into ~/.netrc")
        )
        try await stranger.settle()
        #expect(!stranger.accesses.isEmpty)
        #expect(stranger.accesses.allSatisfy { $0.authorization.isEmpty && $0.status == 401 })
        // The same server, named by the user: the credentials in the list are sent.
        let named = try await stage.hear([list, stranger.url("/other.mp3")])
        #expect(named.status == 3)
        expectSame(named.samples, as: try await Stage.song.reference)
        #expect(
            stranger.accesses.contains { $0.authorization == "Basic \(Self.encoded)" && $0.status == 206 }
        )
        for run in [refused, named] {
            #expect(stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
        }
    }

    @Test(arguments: Way.allCases)
    func `a redirect to another host drops the secret, and costs one request in all`(way: Way) async throws {
        let target = try await stage.nginx()
        let nginx = try await stage.nginx(
            extra: "location / { return 302 http://localhost:\(target.port)$request_uri; }"
        )
        let run = try await stage.hear(try source(nginx, way))
        try await expectSong(run)
        try await nginx.settle()
        try await target.settle()
        // The windows after the first are requested directly from the redirect's target.
        #expect(nginx.accesses.map(\.status) == [302])
        #expect(nginx.accesses.map(\.authorization) == ["Basic \(Self.encoded)"])
        #expect(target.accesses.count >= 2)
        #expect(target.accesses.allSatisfy { $0.authorization.isEmpty && $0.status == 206 })
        #expect(stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
    }

    /// nginx over the stage's folder, for those who know the password.
    private func locked() async throws -> NginxServer {
        let path = try stage.folder.write("me:{PLAIN}\(Self.password)\n", to: "passwords")
        return try await stage.nginx(
            extra: "auth_basic music; auth_basic_user_file \(path);"
        )
    }

    /// The arguments that play `path` with a password given this way.
    private func source(
        _ nginx: NginxServer,
        _ way: Way,
        _ password: String = password,
        path: String = "/song.mp3"
    ) throws -> [String] {
        switch way {
        case .url: return ["http://me:\(password)@127.0.0.1:\(nginx.port)\(path)"]
        case .netrc:
            try stage.folder.write("machine 127.0.0.1\nlogin me\npassword \(password)\n", to: ".netrc")
            return [nginx.url(path)]
        case .headerFile:
            let encoded = Data("me:\(password)".utf8).base64EncodedString()
            let file = try stage.folder.write("Authorization: Basic \(encoded)\n", to: "headers")
            return ["--header", "@\(file)", nginx.url(path)]
        }
    }
}
