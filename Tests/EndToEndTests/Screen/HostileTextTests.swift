import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Text from outside that would control a terminal, in every place from which the player takes text: the
/// terminal receives only the screen's own sequences, and lines of output none at all.
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

    /// Where the text comes from.
    enum Place: CaseIterable {
        case titles, entries, tags, names, addresses, fields, live
    }

    /// What to play, how many of it fail, and a text that the screen shows in the end.
    private struct Music {
        var sources: [String]
        var failed = 0
        var mark = "zZ"
    }

    private let stage: Stage

    init() async throws { stage = try await Stage() }

    private func music(_ place: Place) throws -> Music {
        let server = stage.server
        let folder = stage.folder
        let hostile = Self.hostile
        switch place {
        case .titles:
            let list =
                Array("#EXTM3U\n#PLAYLIST:".utf8) + Self.bytes + Array("\n#EXTINF:2,".utf8) + Self.bytes
                + Array(" - ".utf8) + Self.bytes + Array("\ngood.mp3\n".utf8)
            return Music(sources: [try folder.write(list, to: "\(hostile.prefix(20)).m3u8")], mark: "stolen")
        case .entries:
            let entries = [
                "#EXTM3U", "gone\(hostile).mp3", "ftp://h/\(hostile)", "http://\(hostile)/x.mp3", "good.mp3",
            ]
            let list = try folder.write(entries.joined(separator: "\n"), to: "list.m3u8")
            return Music(sources: [list], failed: 3, mark: "stolen")
        case .tags:
            let frames = ["TIT2", "TPE1", "TALB"].flatMap { name -> [UInt8] in
                let size = Self.bytes.count + 1
                return Array(name.utf8) + [0, 0, UInt8(size >> 7), UInt8(size & 0x7F), 0, 0, 3] + Self.bytes
            }
            let high = UInt8(frames.count >> 7)
            let low = UInt8(frames.count & 0x7F)
            let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, high, low] + frames
            server.set(tag + stage.musicBytes, at: "/tagged.mp3")
            return Music(sources: [server.url("/tagged.mp3")])
        case .names:
            let name = hostile.prefix(60) + "zZ\nreprise: all is well.mp3"
            let good = try folder.write(stage.musicBytes, to: "music/\(name)")
            let bad = try folder.write("no music", to: "other/\(name)")
            return Music(sources: [good, bad, bad + "gone", folder.path("gone\(hostile)/")], failed: 3)
        case .addresses:
            let escaped = Self.bytes.prefix(120).map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            server.set(stage.musicBytes, at: "/a\u{1B}]0;stolen\u{07}\u{202E}.mp3")
            let paths = [
                "/a%1B]0;stolen%07%E2%80%AE.mp3", "/gone\(escaped.joined())zZ.mp3", "/gone\(hostile).mp3",
            ]
            return Music(sources: paths.map(server.url) + ["http://h\(hostile).invalid/x.mp3"], failed: 3)
        case .fields:
            // Line ends and NUL would end the field itself.
            let words = "a\u{1B}]0;stolen\u{07}\u{9B}31337m\u{202E}\u{1B}[31337m"
            let faults: [String: [Fault]] = [
                "/typed.mp3": [.field("Content-Type", "audio/\(words)"), .field("ETag", "\"\(words)\"")],
                "/moved.mp3": [.redirect(status: 302, location: "/gone\(words)?\(badInputSecret)")],
                "/far.mp3": [.redirect(status: 302, location: "gopher://\(words)")],
            ]
            for (path, faults) in faults {
                server.set(stage.musicBytes, at: path)
                server.origin.setFaults(faults, for: path)
            }
            let paths = ["/moved.mp3", "/far.mp3", "/typed.mp3"]
            return Music(sources: paths.map(server.url), failed: 2, mark: "typed")
        case .live:
            let words = hostile.replacing("'", with: "").replacing(";", with: "")
            let title = LiveStream.Title(at: 1, words.prefix(60) + "zZ")
            let radio = LiveStream(name: String(words.prefix(100)), bitRate: 128, titles: [title])
            server.set(stage.musicBytes, at: "/radio")
            server.origin.setFaults([.live(radio)], for: "/radio")
            return Music(sources: [server.url("/radio")])
        }
    }

    // A live stream never ends.
    @Test(arguments: Place.allCases.filter { $0 != .live })
    func `lines of output, and what the cache commands print, cannot control the terminal`(
        place: Place
    ) async throws {
        let music = try music(place)
        let run = try await stage.play(music.sources)
        #expect(run.status == (music.failed > 0 ? 3 : 0))
        #expect(run.errorLines.count == music.failed, "\(run.errors)")
        #expect(run.errorLines.allSatisfy { $0.hasPrefix("reprise: ") })
        #expect(run.finished == [88_200])
        if place != .fields { #expect((run.output + run.errors).contains("stolen")) }
        expectHarmless(run)
        expectHarmless(try await stage.play(["--offline"] + music.sources))
        expectHarmless(try await stage.run(["--headless", "--plain", "--sink", "null:fast"] + music.sources))
        let web = music.sources.filter { $0.hasPrefix("http") }
        for words in [["list"], ["list", "--json"]]
            + web.flatMap({ [["info", $0], ["info", "--json", $0]] })
        {
            expectHarmless(try await stage.cache(words))
        }
    }

    @Test(arguments: [
        ["--sink", "wav:/no/\(hostile)/x.wav", "good.mp3"], ["--header", "@/no/\(hostile)", "good.mp3"],
        [
            "--offline", "--cache-dir", "/dev/null/\(hostile)", "--sink", "null:fast",
            "http://127.0.0.1:1/x.mp3",
        ],
        ["cache", "info", "/no/\(hostile)"], ["cache", "list", "--cache-dir", "/dev/null/\(hostile)"],
        ["--cacert", "/no/\(hostile)", "--sink", "null:fast", "https://127.0.0.1:1/x.mp3"],
    ])
    func `values of options cannot control the terminal`(arguments: [String]) async throws {
        let run = try await stage.run(arguments)
        #expect(run.status != 0)
        #expect(!run.errorLines.isEmpty)
        expectHarmless(run)
    }

    private static let screens: [(Place, String, [String])] =
        Place.allCases.map { ($0, "xterm-256color", []) } + [(.titles, "xterm", ["--plain"])]
        + ["tmux-256color", "linux", "vt100"].map { (.titles, $0, []) }

    @Test(arguments: screens)
    func `a terminal receives only the screen's own sequences`(
        place: Place,
        type: String,
        options: [String]
    ) async throws {
        let music = try music(place)
        let terminal = try PlayerTerminal(
            stage,
            ["--sink", "null", "--cache-dir", stage.cachePath, "--repeat", "all"] + options + music.sources,
            type: type,
            size: (200, 40)
        )
        try await terminal.wait(for: music.mark)
        // Typed text is outside text too; its answer is drawn before the next key is read. Without a screen
        // the terminal itself echoes it.
        try terminal.process.type(options == [] ? ":nonsense \u{9B}31337m\u{202E}\r\u{15}help\rqq" : "q")
        try await terminal.process.waitForExit()
        #expect(TerminalBytes.firstProblem(terminal.process.output) == nil)
        #expect(TerminalBytes.firstProblem(Array(terminal.process.errorText.utf8)) == nil)
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

    @Test func `NO_COLOR and the terminal's background are respected`() async throws {
        let path = stage.music
        var shown: [Bool: String] = [:]
        for isColored in [true, false] {
            let terminal = try PlayerTerminal(
                stage,
                ["--sink", "null", "--repeat", "one", path],
                type: "xterm-256color",
                // It may be set in the environment of the tests: SwiftPM sets it if its output is not a
                // terminal.
                environment: ["NO_COLOR": isColored ? nil : "1"]
            )
            try await terminal.wait(for: "vol 100%")
            for code in isColored ? ["38", "48"] : [] { try await terminal.wait(for: "\u{1B}[\(code);5;") }
            try terminal.process.type("q")
            #expect(try await terminal.process.waitForExit() == 0)
            shown[isColored] = terminal.shown
        }
        #expect(shown[true]?.contains("\u{1B}[38;5;") == true)
        // Without colors there is no background of ours either: 40…47, 100…107, 48;….
        let background = /\u{1B}\[(?:[0-9;]*;)?(?:4[0-8]|10[0-7])(?:;[0-9;]*)?m/
        #expect(shown[true]?.firstMatch(of: background) != nil, "the selected row")
        #expect(shown[false]?.firstMatch(of: background) == nil)
        #expect(shown[false]?.firstMatch(of: /\u{1B}\[(?:[0-9;]*;)?3[0-8](?:;[0-9;]*)?m/) == nil)
    }
}
