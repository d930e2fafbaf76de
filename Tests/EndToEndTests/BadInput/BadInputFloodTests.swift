import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Scripts and terminals that send far more than the player can carry out.
@Suite struct BadInputFloodTests {
    /// Who reads the player's standard output.
    enum Reader: String, CaseIterable, Sendable {
        case everything = ">/dev/null"
        /// The pipe is full before the player starts, and stays so.
        case nothing = "9<>pipe >&9"
    }

    @Test(arguments: Reader.allCases)
    func `a flood of commands takes little memory, and a signal overtakes it`(reader: Reader) async throws {
        let stage = try await Stage()
        let script = """
            mkfifo pipe; exec 8<>pipe; timeout 1 head -c 65536 /dev/zero >&8
            exec "$@" < <(echo $BASHPID >flood; exec yes status) \(reader.rawValue)
            """
        let process = try stage.startPlaying(
            ["--repeat", "one", stage.music],
            wrapper: ["bash", "-c", script, "bash"]
        )
        try await wait(for: "the thread that reads commands") { process.threads.contains("commands") }
        // Another process writes it.
        var flood = ""
        try await wait(for: "the number of the process that floods") {
            flood = (try? String(contentsOfFile: stage.folder.path("flood"), encoding: .utf8)) ?? ""
            return flood.hasSuffix("\n")
        }
        // A pipe holds 65,536 bytes; the player has read the others.
        let taken = { [flood] in Self.writtenBytes(of: flood) - 65_536 }
        // Until it has taken thirty thousand commands, or, if nobody reads the answers, until it rests.
        var rest = (time: Duration.zero, count: 0)
        try await wait(for: "the flood") {
            let time = process.processorTime
            rest = (time, time == rest.time ? rest.count + 1 : 0)
            let isFlooded = reader == .everything ? taken() > 200_000 : rest.count > 20 && taken() > 0
            return isFlooded || process.peakMemory > 40_000_000
        }
        // The answers to a thousand commands of seven bytes are unwritten; without a reader it stops there.
        #expect(reader == .everything || taken() < 20_000)
        #expect(process.peakMemory < 40_000_000)
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
        // Within a second, and some more on a machine that stands still for seconds.
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    /// The bytes that the process with this number has written so far.
    private static func writtenBytes(of process: String) -> Int {
        let number = process.filter { $0 != "\n" }
        let counts = (try? String(contentsOfFile: "/proc/\(number)/io", encoding: .utf8)) ?? ""
        let line = counts.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    @Test func `quit on standard input takes its turn, so that no command before it is lost`() async throws {
        let stage = try await Stage()
        let many = (0..<5_000).map { "volume \($0 % 100)\n" }.joined()
        let run = try await stage.run(
            ["--headless", "--json", "--sink", "null", "--repeat", "one", stage.music],
            input: many + "quit\nvolume 100\n"
        )
        #expect(run.status == 0)
        // Each of them is another volume than before.
        #expect(run.lines.count { $0.hasPrefix(#"{"event":"volume""#) } == 5_000)
    }

    @Test(arguments: [true, false])
    func `quit on standard input waits for a list to be read and saved`(isAdded: Bool) async throws {
        let stage = try await Stage()
        stage.server.set(Array("#EXTM3U\na.mp3\n".utf8), at: "/list.m3u8")
        let gate = stage.server.origin.hold("/list.m3u8", .beforeHead)
        let list = stage.url("/list.m3u8")
        let path = stage.folder.path("saved.m3u8")
        let process = try stage.startPlaying(isAdded ? ["--repeat", "one", stage.music] : [list])
        try process.type((isAdded ? "add \(list)\n" : "") + "save \(path)\nclear\nquit\nvolume 7\n")
        try process.closeInput()
        try await gate.reached()
        // The last line was read, and the player has not ended.
        _ = try await process.waitForLine { $0.hasPrefix(#"{"event":"volume""#) }
        #expect(!FileManager.default.fileExists(atPath: path))
        gate.release()
        #expect(try await process.waitForExit() == 0)
        let saved = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(
            saved.filter { $0.first != "#" }.map(String.init) == (isAdded ? [stage.music] : []) + [
                stage.url("/a.mp3")
            ]
        )
    }

    // Typed, not pasted: a terminal that does not mark pastes sends them as keys.
    @Test func `text typed into the command line takes time in proportion to its length, up to a megabyte`()
        async throws
    {
        let stage = try await Stage()
        let terminal = try PlayerTerminal(
            stage,
            ["--sink", "null", "--repeat", "one", "--cache-dir", stage.cachePath, stage.music]
        )
        try await terminal.wait(for: "good")
        var times: [Duration] = []
        for (count, command) in [(1 << 18, "seek"), (1 << 20, "volume")] {
            let before = terminal.process.processorTime
            // The start of the line, so that each character is inserted before another.
            let text = ":x\u{1}" + String(repeating: "y", count: count)
            try terminal.process.type(text + "\u{15}\u{B}\(command) x\r")
            try await terminal.wait(for: "\(command) takes")
            times.append(terminal.process.processorTime - before)
            try terminal.process.type("\u{15}\r")
        }
        // Four times the text; in proportion to the square it would take sixteen times as long.
        #expect(times[1] < times[0] * 8, "\(times)")
        try terminal.process.type(":quit\r")
        #expect(try await terminal.process.waitForExit() == 0)
    }
}

extension RunningProcess {
    /// The user and system time so far; zero after its end.
    var processorTime: Duration {
        let stat = (try? String(contentsOfFile: "/proc/\(processIdentifier)/stat", encoding: .utf8)) ?? ""
        // The name, in parentheses, may contain blanks. The times are the fields 14 and 15, in ticks.
        let fields = stat.drop { $0 != ")" }.split(separator: " ")
        guard fields.count > 12, let user = Int(fields[12]), let system = Int(fields[13]) else {
            return .zero
        }
        return .milliseconds((user + system) * 1_000 / sysconf(Int32(_SC_CLK_TCK)))
    }
}
