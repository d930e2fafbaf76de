import Foundation
import System
import TestSupport
import Testing

/// Many programs at the control socket of a player with a screen, among them some that never read.
struct SocketSoakTests {
    private static let clientCount = 100
    private static let stuckCount = 10

    /// A tenth of a second, at whose start each program sends `text`.
    private func step(_ programs: [SocketProgram], _ text: String) async throws {
        for program in programs { _ = program.offer(text) }
        try await Task.sleep(for: .milliseconds(100))
        // So that the memory of this process does not grow with the events.
        for program in programs { program.forgetLines() }
    }

    private func memory(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 } ?? 0
    }

    @Test(.enabled(if: TestCount.isFull))
    func `a hundred programs delay no key and take little memory`() async throws {
        let stage = try await Stage([:])
        let runtime = try TemporaryFolder()
        let music = try stage.folder.write(try await MP3Fixtures.bytes(.init(seconds: 300)), to: "long.mp3")
        let screen = try PlayerTerminal(
            stage,
            ["--sink", "null", "--no-cache", music],
            environment: ["XDG_RUNTIME_DIR": runtime.path]
        )
        try await screen.wait(for: "Playing")
        let socket = runtime.path("reprise/socket")
        try await wait(for: "the socket") { FileManager.default.fileExists(atPath: socket) }
        let before = try memory(of: screen.process.processIdentifier)
        var all: [SocketProgram] = []
        while all.count < Self.clientCount {
            // The queue of connections may be full for a moment.
            if let program = try? SocketProgram(socket) { all.append(program) } else { await Task.yield() }
        }
        let stuck = all.suffix(Self.stuckCount)
        // As many answers as the socket and the player hold.
        for program in stuck { while program.offer(String(repeating: "status\n", count: 500)) {} }
        let readers = Array(all.dropLast(Self.stuckCount))
        var delays: [Duration] = []
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            try await step(readers, "status\n")
            // A key of which each press changes the screen.
            let shown = screen.process.pieceCount
            let begun = ContinuousClock.now
            try screen.process.type("?")
            try await wait(for: "the answer to the key") { screen.process.pieceCount > shown }
            delays.append(screen.process.pieces(from: shown)[0].instant - begun)
        }
        let after = try memory(of: screen.process.processIdentifier)
        let worst = delays.sorted()[delays.count * 95 / 100]
        print(
            "key to screen: \(delays.sorted()[delays.count / 2]), 95 %: \(worst); memory: + \(after - before) B"
        )
        #expect(worst <= .milliseconds(16) && after - before <= 10_000_000)
        _ = readers[0].offer("status\n")
        try await readers[0].event("status")
        _ = readers[0].offer("quit\n")
        try await screen.process.waitForExit()
    }
}
