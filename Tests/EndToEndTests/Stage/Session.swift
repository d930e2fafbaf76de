import Foundation
import TestSupport

/// A run of the built player without a screen, with its events and the samples that it wrote.
final class Session: Sendable {
    let process: RunningProcess
    private let soundPath: String

    init(process: RunningProcess, soundPath: String) {
        self.process = process
        self.soundPath = soundPath
    }

    /// The events so far.
    var events: [ReportedEvent] { get throws { try process.events } }

    /// Every `ended` event so far.
    var ends: [ReportedEvent] { get throws { try events.filter { $0.event == "ended" } } }

    /// Every notice so far.
    var notices: [ReportedEvent] { get throws { try events.filter { $0.event == "notice" } } }

    /// The first event of this name from the one numbered `start` on; waits for it.
    @discardableResult
    func event(_ name: String, from start: Int = 0) async throws -> ReportedEvent {
        try await process.event(name, after: start)
    }

    /// Gives the player a command, as a listener would.
    func command(_ text: String) throws { try process.send(text) }

    /// The number of bytes of samples written so far.
    var soundCount: Int64 {
        var status = stat()
        return stat(soundPath, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Waits for the end and returns the samples. Throws if the exit code is not 0.
    @discardableResult
    func finish() async throws -> Data {
        let status = try await process.waitForExit()
        guard status == 0 else {
            let lines = process.lines.suffix(3).joined(separator: "\n")
            throw RunningProcess.Failure(
                description: "reprise ended with \(status): \(process.errorText)\n\(lines)"
            )
        }
        return takeSound()
    }

    /// The player's anonymous memory now, in KiB.
    func anonymousKilobytes() throws -> Int {
        let path = "/proc/\(process.processIdentifier)/status"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("RssAnon:") }),
            let size = Int(line.filter(\.isNumber))
        else { throw RunningProcess.Failure(description: "\(path) has no RssAnon") }
        return size
    }

    /// Ends the player by its command and returns the samples.
    @discardableResult
    func quit() async throws -> Data {
        try command("quit")
        return try await finish()
    }

    /// Removes the file of samples and returns its content.
    func takeSound() -> Data {
        let sound = FileManager.default.contents(atPath: soundPath) ?? Data()
        // A long track is 40 MB of samples: those of all tests together would fill a small disk.
        try? FileManager.default.removeItem(atPath: soundPath)
        return sound
    }

    /// Waits for the end, with whatever exit code.
    func ending() async throws -> Ending {
        var ending = try await Ending(of: process)
        ending.samples = takeSound()
        return ending
    }

    /// Kills the process, and returns when it has ended.
    func kill() async throws {
        process.signal(SIGKILL)
        try await process.waitForExit()
        _ = takeSound()
    }
}
