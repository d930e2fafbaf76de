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

    @Test(arguments: Way.allCases)
    func `music behind a password plays, and the password is told to nobody else`(way: Way) async throws {
        let stage = try await NetworkStage()
        let nginx = try await locked(stage)
        let run = try await stage.play(try source(nginx, way, Self.password, stage))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(nginx.accesses.count >= 2)
        #expect(nginx.accesses.allSatisfy { $0.authorization == "Basic \(Self.encoded)" && $0.status == 206 })
        #expect(try stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
    }

    @Test(arguments: Way.allCases)
    func `a wrong password is one clear error without it`(way: Way) async throws {
        let stage = try await NetworkStage()
        let nginx = try await locked(stage)
        let run = try await stage.play(try source(nginx, way, Self.wrong, stage))
        #expect(run.status == 2)
        let failure = try #require(try run.failure)
        #expect(failure.code == "http-status")
        #expect(failure.message.contains("\(nginx.url("/song.mp3")): "))
        #expect(failure.message.contains("401"))
        #expect(nginx.accesses.allSatisfy { $0.status == 401 })
        let encoded = Data("me:\(Self.wrong)".utf8).base64EncodedString()
        #expect(try stage.leaks(of: [Self.wrong, encoded], in: run) == [])
    }

    @Test(arguments: [Way.netrc, .headerFile])
    func `a server that only a playlist names is told no secret`(way: Way) async throws {
        let stage = try await NetworkStage()
        let stranger = try await NginxServer(serving: stage.webFolder)
        try stage.folder.write("\(stranger.url("/song.mp3"))\n", to: "web/list.m3u8")
        let nginx = try await locked(stage)
        let run = try await stage.play(try source(nginx, way, Self.password, stage, path: "/list.m3u8"))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(nginx.accesses.map(\.status).allSatisfy { $0 < 300 })
        #expect(!stranger.accesses.isEmpty)
        #expect(stranger.accesses.allSatisfy { $0.authorization.isEmpty })
    }

    @Test func `a password in a playlist is sent only to a server that was named as a source`() async throws {
        let stage = try await NetworkStage()
        let stranger = try await locked(stage)
        let entry = "http://me:\(Self.password)@127.0.0.1:\(stranger.port)/song.mp3"
        let list = try stage.folder.write("\(entry)\n", to: "list.m3u8")
        let refused = try await stage.play([list])
        #expect(refused.status == 2)
        let failure = try #require(try refused.failure)
        #expect(failure.code == "http-status")
        #expect(failure.message.hasPrefix("\(stranger.url("/song.mp3")): "))
        #expect(failure.message.contains("(401), and those in a playlist are not sent; add this URL"))
        #expect(!stranger.accesses.isEmpty)
        #expect(stranger.accesses.allSatisfy { $0.authorization.isEmpty && $0.status == 401 })
        // The same server, named by the user: the credentials in the list are sent.
        let named = try await stage.play([list, stranger.url("/other.mp3")])
        #expect(named.status == 3)
        #expect(named.samples == stage.samples)
        #expect(
            stranger.accesses.contains { $0.authorization == "Basic \(Self.encoded)" && $0.status == 206 }
        )
        for run in [refused, named] {
            #expect(try stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
        }
    }

    @Test(arguments: Way.allCases)
    func `a redirect to another host drops the secret, and costs one request in all`(way: Way) async throws {
        let stage = try await NetworkStage()
        let target = try await NginxServer(serving: stage.webFolder)
        let nginx = try await NginxServer(
            serving: stage.webFolder,
            extra: "location / { return 302 http://localhost:\(target.port)$request_uri; }"
        )
        let run = try await stage.play(try source(nginx, way, Self.password, stage))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        // The windows after the first are requested directly from the redirect's target.
        #expect(nginx.accesses.map(\.status) == [302])
        #expect(nginx.accesses.map(\.authorization) == ["Basic \(Self.encoded)"])
        #expect(target.accesses.count >= 2)
        #expect(target.accesses.allSatisfy { $0.authorization.isEmpty && $0.status == 206 })
        #expect(try stage.leaks(of: [Self.password, Self.encoded], in: run) == [])
    }

    /// nginx over the stage's folder, for those who know the password.
    private func locked(_ stage: NetworkStage) async throws -> NginxServer {
        let path = try stage.folder.write("me:{PLAIN}\(Self.password)\n", to: "passwords")
        return try await NginxServer(
            serving: stage.webFolder,
            extra: "auth_basic music; auth_basic_user_file \(path);"
        )
    }

    /// The arguments that play `path` with a password given this way.
    private func source(
        _ nginx: NginxServer,
        _ way: Way,
        _ password: String,
        _ stage: NetworkStage,
        path: String = "/song.mp3"
    ) throws -> [String] {
        switch way {
        case .url: return ["http://me:\(password)@127.0.0.1:\(nginx.port)\(path)"]
        case .netrc:
            try stage.folder.write("machine 127.0.0.1\nlogin me\npassword \(password)\n", to: "home/.netrc")
            return [nginx.url(path)]
        case .headerFile:
            let encoded = Data("me:\(password)".utf8).base64EncodedString()
            let file = try stage.folder.write("Authorization: Basic \(encoded)\n", to: "headers")
            return ["--header", "@\(file)", nginx.url(path)]
        }
    }
}
