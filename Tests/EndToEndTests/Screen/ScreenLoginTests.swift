import Foundation
import TestSupport
import Testing

/// The log-in that a server asks for on the screen: who asks, who does not, and where the password goes.
@Suite(.serialized)
struct ScreenLoginTests {
    private static let password = "hush-hush-4711"
    private static let encoded = Data("me:\(password)".utf8).base64EncodedString()
    private static let netrc = "# mine\nmachine elsewhere.example\n\tlogin  you   password there"

    private let folder: TemporaryFolder
    private let netrcPath: String
    private var home: [String: String] { ["HOME": folder.path("home")] }

    init() async throws {
        folder = try TemporaryFolder()
        netrcPath = try folder.write(Self.netrc, to: "home/.netrc")
        for (seed, name) in ["first", "second", "third"].enumerated() {
            let song = try await MP3Fixtures.bytes(.init(seconds: 40, seed: UInt64(seed + 1)))
            try folder.write(song, to: "web/\(name).mp3")
        }
    }

    /// nginx over the songs, for those who know the password.
    private func locked() async throws -> NginxServer {
        let path = try folder.write("me:{PLAIN}\(Self.password)\n", to: "passwords")
        return try await NginxServer(
            serving: folder.path("web"),
            extra: "auth_basic \"The Music\"; auth_basic_user_file \(path);"
        )
    }

    private func logIn(_ stage: ScreenStage, _ password: String = password, last: String) async throws {
        try await stage.terminal.wait(for: "User name:")
        try await stage.terminal.type("me")
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "Password:")
        try await stage.terminal.type(password)
        try await stage.terminal.wait(for: String(repeating: "•", count: password.count))
        #expect(try await !stage.terminal.capture().contains { $0.contains(password) })
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "keep it in a file")
        try await stage.keys(last)
    }

    /// The files below the folder that have one of `secrets`, by their paths in it.
    private func files(with secrets: [String]) -> [String] {
        let names = FileManager.default.subpaths(atPath: folder.path) ?? []
        return names.filter { name in
            guard let bytes = FileManager.default.contents(atPath: folder.path(name)) else { return false }
            return secrets.contains { bytes.range(of: Data($0.utf8)) != nil }
        }
        .sorted()
    }

    @Test func `a kept log-in survives, the password goes nowhere else, and .netrc stays byte for byte`()
        async throws
    {
        let nginx = try await locked()
        let options = ["--journal", folder.path("journal")]
        let stage = try await ScreenStage(
            options + [nginx.url("/first.mp3")],
            folder: folder,
            environment: home
        )
        try await stage.terminal.wait(for: "http://127.0.0.1:\(nginx.port) wants a log-in")
        let screen = try await stage.terminal.capture().joined(separator: " ")
        #expect(screen.contains("not encrypted") && screen.contains("The Music"))
        try await logIn(stage, last: "k")
        try await stage.waitForStatus("Playing")
        try await stage.terminal.type("5")
        try await stage.keys(":", "Up")
        try await stage.terminal.wait(for: ":▏")
        #expect(try await !stage.terminal.capture().contains { $0.contains(Self.password) })
        try await stage.escape(from: ":▏")
        try await stage.quit()

        let again = try await ScreenStage(options, folder: folder, environment: home)
        try await again.waitForStatus("Playing")
        try await again.quit()
        #expect(files(with: [Self.password, Self.encoded]) == ["config/reprise/netrc", "passwords"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("config/reprise/netrc"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOfFile: netrcPath, encoding: .utf8) == Self.netrc)
    }

    @Test func `a list asks for itself and its tracks, and a resumed session once a host`() async throws {
        let nginx = try await locked()
        try folder.write("first.mp3\nsecond.mp3\nthird.mp3\n", to: "web/list.m3u8")
        let stage = try await ScreenStage([nginx.url("/list.m3u8")], folder: folder, environment: home)
        try await logIn(stage, "wrong", last: "Enter")
        try await stage.terminal.wait(for: "refused the log-in")
        try await logIn(stage, last: "Enter")
        try await stage.waitForStatus("Playing")
        try await stage.quit()
        #expect(files(with: [Self.password]) == ["passwords"])

        let again = try await ScreenStage(["--no-cache"], folder: folder, environment: home)
        try await logIn(again, last: "Enter")
        for number in [2, 3] {
            try await again.waitForStatus("Playing")
            try await again.keys(">")
            try await again.waitForCurrent(number)
        }
        try await again.waitForStatus("Playing")
        #expect(try await !again.terminal.capture().contains { $0.contains("log-in") })
        try await again.quit()
    }

    @Test func `a declined log-in is not asked for again by the other tracks of the host, but by adding one`()
        async throws
    {
        let nginx = try await locked()
        let urls = ["first", "second", "third"].map { nginx.url("/\($0).mp3") }
        let stage = try await ScreenStage(urls, folder: folder, environment: home)
        try await stage.terminal.wait(for: "User name:")
        try await stage.keys("Escape")
        try await stage.waitForStatus("Ended")
        #expect(try await !stage.terminal.capture().contains { $0.contains("User name") })
        try await stage.command("add \(nginx.url("/first.mp3"))")
        try await logIn(stage, last: "Enter")
        try await stage.waitForStatus("Playing")
        try await stage.quit()
    }

    @Test func `the next track asks when its turn comes, not while it is read ahead`() async throws {
        let open = try await NginxServer(serving: folder.path("web"))
        let nginx = try await locked()
        let urls = [open.url("/first.mp3"), nginx.url("/second.mp3")]
        let stage = try await ScreenStage.playing(urls, folder: folder, environment: home)
        try await stage.command("download 2")
        try await wait(for: "the refusal of what is read ahead") {
            nginx.accesses.contains { $0.status == 401 }
        }
        #expect(try await !stage.terminal.capture().contains { $0.contains("User name") })
        try await stage.command("seek 0:38")
        try await logIn(stage, last: "Enter")
        try await stage.waitForStatus("Playing")
        try await stage.waitForCurrent(2)
        try await stage.quit()
    }

    @Test func `neither the server of a list's entry nor the target of a redirect asks`() async throws {
        let nginx = try await locked()
        let open = try await NginxServer(
            serving: folder.path("web"),
            extra: "location /moved { return 302 \(nginx.url("/first.mp3")); }"
        )
        let list = try folder.write("\(nginx.url("/first.mp3"))\n", to: "list.m3u8")
        let stage = try await ScreenStage([list, open.url("/moved")], folder: folder, environment: home)
        try await stage.waitForStatus("Ended")
        #expect(try await !stage.terminal.capture().contains { $0.contains("User name") })
        #expect(nginx.accesses.filter { $0.status == 401 }.count >= 2)
        #expect(nginx.accesses.allSatisfy { $0.authorization.isEmpty })
        try await stage.quit()
    }

    @Test(arguments: [["--plain"], ["--headless"]])
    func `without a screen nobody is asked, not even on a terminal`(option: [String]) async throws {
        let nginx = try await locked()
        let stage = try await Stage()
        let words = option + ["--sink", "null:fast", "--no-cache", nginx.url("/first.mp3")]
        let terminal = try PlayerTerminal(stage, words)
        let status = try await terminal.process.waitForExit()
        #expect(status == 2)
        #expect((terminal.shown + terminal.process.errorText).contains("(401)"))
        #expect(!terminal.shown.contains("User name"))
    }
}
