import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Every control character in every kind of outside text: the terminal receives only those of the screen's own
/// sequences.
@Suite struct HostileTextTests {
    /// Every C0 and C1 control but NUL and line ends, DEL, the bidirectional controls, and sequences that
    /// would show in the bytes: a title (OSC), a colour that no palette has (CSI), the same in C1.
    private static let hostile: String = {
        let controls = (Array(1...9) + Array(11...12) + Array(14...31) + Array(127...159)).map { UInt32($0) }
        let bidi: [UInt32] = [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069)
        let all = (controls + bidi).compactMap(Unicode.Scalar.init).map(String.init).joined(separator: "x")
        return "Aa\u{1B}]0;stolen\u{07}b\u{1B}[31337mc\u{9B}31337md\u{9D}52;c;eA==\u{9C}e\u{1B}Pq\u{1B}\\"
            + all + "zZ"
    }()

    /// The same, with invalid UTF-8: a start without its end, an end without its start, an overlong ESC.
    private static let bytes: [UInt8] =
        Array(hostile.utf8) + [0xE6, 0xA1, 0x41, 0x80, 0xC0, 0x9B, 0xFF, 0x5A]

    private let stage: Stage

    init() async throws { stage = try await Stage() }

    /// Plays on a screen until `condition` holds for the output, opens the help, types the text too, quits,
    /// and checks every byte.
    private func check(
        _ sources: [String],
        options: [String] = [],
        type: String = "xterm-256color",
        until text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let terminal = try ScriptTerminal(
            stage,
            ["--sink", "null", "--cache-dir", stage.cachePath, "--repeat", "all"] + options + sources,
            type: type,
            columns: 200,
            rows: 40
        )
        try await terminal.wait(for: text)
        // Typed text is outside text too; its answer is drawn before the next key is read. Without a screen
        // the terminal itself echoes it.
        try terminal.type(options.contains("--plain") ? "q" : ":nonsense \u{9B}31337m\u{202E}\r?q")
        _ = try await terminal.waitForExit()
        let problem = TerminalBytes.firstProblem(terminal.bytes)
        #expect(problem == nil, sourceLocation: sourceLocation)
        let errors = TerminalBytes.firstProblem(Array(terminal.errorText.utf8))
        #expect(errors == nil, sourceLocation: sourceLocation)
    }

    @Test func `the check accepts only the screen's own sequences`() {
        let own = "\u{1B}[?1049h\u{1B}[1;80r\u{1B}(B\u{1B}[38;5;114mplain 桜…\u{1B}]2;title\u{07}\r\n"
        #expect(TerminalBytes.firstProblem(Array(own.utf8)) == nil)
        for scalar in Self.hostile.unicodeScalars where TerminalBytes.isSteering(scalar) {
            #expect(TerminalBytes.firstProblem(Array("a\(scalar)b".utf8)) != nil, "\(scalar.value)")
        }
        for text in [
            "\u{1B}]0;x\u{07}", "\u{1B}]2;x\u{9C}\u{07}", "\u{1B}[31337m", "\u{1B}Pq\u{1B}\\", "\u{1B}[5i",
        ] {
            #expect(TerminalBytes.firstProblem(Array(text.utf8)) != nil)
        }
        #expect(TerminalBytes.firstProblem([0x41, 0xE6, 0xA1, 0x41]) != nil)
    }

    @Test(arguments: ["xterm-256color", "tmux-256color", "linux", "vt100"])
    func `titles and artists of a playlist, and its name`(type: String) async throws {
        let list =
            Array("#EXTM3U\n#PLAYLIST:".utf8) + Self.bytes + Array("\n#EXTINF:2,".utf8) + Self.bytes
            + Array(" - ".utf8) + Self.bytes + Array("\ngood.mp3\n".utf8)
        let path = try stage.folder.write(list, to: "\(Self.hostile.prefix(20)).m3u8")
        try await check([path], type: type, until: "stolen")
    }

    @Test func `tags of a track`() async throws {
        let frames = ["TIT2", "TPE1", "TALB"].flatMap { name -> [UInt8] in
            let size = Self.bytes.count + 1
            return Array(name.utf8) + [0, 0, UInt8(size >> 7), UInt8(size & 0x7F), 0, 0, 3] + Self.bytes
        }
        let size = frames.count
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, UInt8(size >> 7), UInt8(size & 0x7F)] + frames
        let server = try TestOrigin(["/tagged.mp3": tag + stage.musicBytes])
        try await check([server.url("/tagged.mp3")], until: "zZ")
    }

    @Test func `names of files and addresses`() async throws {
        let name = Self.hostile.replacing("/", with: "").prefix(60) + "zZ"
        let file = try stage.folder.write(stage.musicBytes, to: "\(name).mp3")
        let escaped = Self.bytes.prefix(120).map { "%" + String($0 + 0, radix: 16).leftPadded }.joined()
        let server = try TestOrigin()
        server.set(stage.musicBytes, at: "/good.mp3")
        try await check(
            [file, server.url("/gone\(escaped)zZ.mp3"), "http://h\(Self.hostile).invalid/x.mp3"],
            until: "zZ"
        )
    }

    @Test func `titles and names of live streams`() async throws {
        let words = Self.hostile.replacing("'", with: "").replacing(";", with: "")
        let radio = LiveStream(
            name: String(words.prefix(100)),
            bitRate: 128,
            titles: [LiveStream.Title(at: 1, String(words.prefix(60)) + "zZ")]
        )
        let server = try TestOrigin(["/radio": stage.musicBytes], faults: [.live(radio)])
        try await check([server.url("/radio")], until: "zZ")
    }

    @Test func `messages of a server`() async throws {
        // Line ends and NUL would end the field itself.
        let words = "a\u{1B}]0;stolen\u{07}\u{9B}31337m\u{202E}\u{1B}[31337m"
        let server = try TestOrigin(["/typed.mp3": stage.musicBytes, "/moved.mp3": stage.musicBytes])
        server.origin.setFaults(
            [.field("Content-Type", words), .field("ETag", "\"\(words)\"")],
            for: "/typed.mp3"
        )
        server.origin.setFaults([.redirect(status: 302, location: "/gone\(words)")], for: "/moved.mp3")
        try await check(["/moved.mp3", "/gone.mp3", "/typed.mp3"].map(server.url), until: "typed.mp3")
    }

    @Test func `lines in plain mode`() async throws {
        let list = Array("#EXTM3U\n#EXTINF:2,".utf8) + Self.bytes + Array("\ngood.mp3\n".utf8)
        let path = try stage.folder.write(list, to: "list.m3u8")
        try await check([path], options: ["--plain"], until: "zZ")
    }

    @Test func `NO_COLOR and the terminal's background are respected`() async throws {
        let path = stage.music
        var shown: [Bool: String] = [:]
        for isColored in [true, false] {
            let terminal = try ScriptTerminal(
                stage,
                ["--sink", "null", "--repeat", "one", path],
                type: "xterm-256color",
                // It may be set in the environment of the tests: SwiftPM sets it if its output is not a terminal.
                environment: ["NO_COLOR": isColored ? nil : "1"]
            )
            try await terminal.wait(for: "vol 100%")
            if isColored { try await terminal.wait(for: "\u{1B}[38;5;") }
            try terminal.type("q")
            #expect(try await terminal.waitForExit() == 0)
            shown[isColored] = terminal.shown
        }
        #expect(shown[true]?.contains("\u{1B}[38;5;") == true)
        for text in shown.values {
            // No background of ours: 40…47, 100…107, 48;….
            #expect(text.firstMatch(of: /\u{1B}\[(?:[0-9;]*;)?(?:4[0-8]|10[0-7])(?:;[0-9;]*)?m/) == nil)
        }
        #expect(shown[false]?.firstMatch(of: /\u{1B}\[(?:[0-9;]*;)?3[0-8](?:;[0-9;]*)?m/) == nil)
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
