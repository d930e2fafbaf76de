import Foundation
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
            exec "$@" < <(exec yes status) \(reader.rawValue)
            """
        let process = try stage.startPlaying(
            ["--repeat", "one", stage.music],
            wrapper: ["bash", "-c", script, "bash"]
        )
        try await wait(for: "the thread that reads commands") { process.threads.contains("commands") }
        // Until it has worked for two seconds, or rests because nobody reads.
        var rest = (time: Duration.zero, count: 0)
        try await wait(for: "the flood") {
            let time = process.processorTime
            rest = (time, time == rest.time ? rest.count + 1 : 0)
            return time > .seconds(2) || rest.count > 20 || process.peakMemory > 40_000_000
        }
        #expect(process.peakMemory < 40_000_000)
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func `quit on standard input takes its turn, so that no command before it is lost`() async throws {
        let stage = try await Stage()
        let path = stage.folder.path("saved.m3u8")
        let many = String(repeating: "shuffle\n", count: 5_000)
        let run = try await stage.run(
            ["--headless", "--json", "--sink", "null", "--repeat", "one", stage.music],
            input: many + "save \(path)\nquit\n"
        )
        #expect(run.status == 0)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    // Typed, not pasted: a terminal that does not mark pastes sends them as keys.
    @Test func `a megabyte typed into the command line is taken in a second`() async throws {
        let stage = try await Stage()
        let terminal = try PlayerTerminal(
            stage,
            ["--sink", "null", "--repeat", "one", "--cache-dir", stage.cachePath, stage.music]
        )
        try await terminal.wait(for: "good")
        let before = terminal.process.processorTime
        // The start of the line, so that each character is inserted before another.
        try terminal.process.type(":x\u{1}" + String(repeating: "y", count: 1 << 20) + "\u{15}\u{B}seek x\r")
        try await terminal.wait(for: "seek takes")
        #expect(terminal.process.processorTime - before < .seconds(1))
        // The failed line stays to be edited.
        try terminal.process.type("\u{15}quit\r")
        #expect(try await terminal.process.waitForExit() == 0)
    }
}

extension RunningProcess {
    /// The greatest resident memory so far, in bytes; 0 after its end.
    var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

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
