import Media
import Testing

@testable import Reprise

@Suite struct RemoteCommandTests {
    /// The request of a command line that is typed in `/music`; throws its refusal.
    private func request(_ arguments: String...) throws -> RemoteRequest {
        try RemoteCommand.request(of: arguments, in: "/music")
    }

    @Test func `the words are a command, and options may stand behind it`() throws {
        #expect(try request("toggle") == RemoteRequest(lines: ["toggle"]))
        #expect(try request("seek", "-10", "--wait", "seeked").lines == ["seek -10"])
        #expect(try request("seek", "-10", "--wait=seeked").awaited == "seeked")
        #expect(try request("stop  after", "track").lines == ["stop after track"])
        #expect(
            try request("--pid", "7", "status")
                == RemoteRequest(lines: ["status"], printsAnswers: true, process: 7)
        )
        #expect(try request("--follow") == RemoteRequest(follows: true))
        guard case .remote(RemoteRequest(lines: ["play"])) = try Invocation.parse(["remote", "play"]) else {
            Issue.record("remote is no command")
            return
        }
    }

    @Test(
        arguments: [
            ("a.mp3", "/music/a.mp3"), ("/b.mp3", "/b.mp3"), ("~/c.mp3", "~/c.mp3"),
            ("https://h/d.mp3", "https://h/d.mp3"), ("file:/e.mp3", "file:/e.mp3"),
            ("Artist: Title.mp3", "/music/Artist: Title.mp3"), ("f ", "file:///music/f%20"),
            ("g\nquit", "file:///music/g%0Aquit"), ("-", "/music/-"),
        ] as [(typed: String, sent: String)]
    )
    func `a file is named by its whole path`(typed: String, sent: String) throws {
        #expect(try request("add", typed, "x.mp3").lines == ["add " + sent, "add /music/x.mp3"])
    }

    @Test func `a list is saved in the folder in which the command is typed`() throws {
        #expect(try request("save", "my list.m3u8").lines == ["save /music/my list.m3u8"])
        #expect(try request("add my song.mp3").lines == ["add /music/my song.mp3"])
    }

    @Test(
        arguments: [
            [], ["fly"], ["seek"], ["select-down"], ["--wait", "fly"], ["--pid", "0", "next"],
            ["save", "a\nquit"], ["add", "", "b"],
        ]
    )
    func `what no player would take is refused at once`(arguments: [String]) {
        let error = #expect(throws: UsageError.self) { try Invocation.parse(["remote"] + arguments) }
        #expect(error?.help == "reprise remote --help")
    }

    @Test func `the message of a notice is read from its JSON`() {
        let text: SafeText = "No \"track\" \\ 9"
        var line = ""
        EventLine(.notice(code: "bad-command", message: text), at: .zero).writeJSON(to: &line)
        #expect(RemoteSession.message(of: line) == text)
        #expect(RemoteSession.message(of: "{\"message\":\"a\\u0041\"}") == "aA")
        #expect(RemoteSession.message(of: "\\") == "" && RemoteSession.message(of: "") == "")
    }

    @Test func `the names of events are those that are written, and a line in pieces is the same line`() {
        for golden in EventLineTests.goldens {
            let line = EventLine(golden.event, at: .milliseconds(1_500))
            #expect(EventLine.names.contains(line.name) || line.name == "answered")
            #expect(line.jsonPieces.joined() == golden.json)
        }
    }
}
