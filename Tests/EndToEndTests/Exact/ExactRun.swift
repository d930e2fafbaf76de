import Foundation
import TestSupport

/// One run of the built player without a screen, with its events and the samples that it wrote.
final class ExactRun: Sendable {
    /// Where the music goes.
    enum Sink: Sendable {
        /// Into a file of this run's own.
        case file
        /// Into this file or named pipe.
        case path(String)
        /// Nowhere, as fast as it is decoded.
        case nothing

        func option(_ ownFile: String) -> String {
            switch self {
            case .file: "raw:" + ownFile
            case .path(let path): "raw:" + path
            case .nothing: "null:fast"
            }
        }
    }

    let process: RunningProcess
    private let soundPath: String

    /// Starts playing `sources` with the cache in `stage`. The player is run by `wrapper`, if there is one.
    init(
        _ sources: [String],
        on stage: ExactStage,
        sink: Sink = .file,
        options: [String] = [],
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) throws {
        soundPath = stage.folder.path("sound-\(UInt64.random(in: 0 ... .max)).raw")
        let own: [String: String?] = [
            "XDG_STATE_HOME": stage.folder.path("state"), "XDG_CONFIG_HOME": stage.folder.path("config"),
            "http_proxy": nil, "all_proxy": nil,
        ]
        let words =
            wrapper + [
                BuiltProducts.reprise, "--headless", "--json", "--sink", sink.option(soundPath),
                "--cache-dir", stage.cachePath,
            ] + options + sources
        process = try RunningProcess(
            words[0],
            Array(words.dropFirst()),
            environment: own.merging(environment) { $1 }
        )
    }

    /// The events so far.
    var events: [ReportedEvent] { get throws { try process.events } }

    /// Every `ended` event so far.
    var ends: [ReportedEvent] { get throws { try events.filter { $0.event == "ended" } } }

    /// The first event of this name from the one numbered `start` on; waits for it.
    @discardableResult
    func event(_ name: String, from start: Int = 0) async throws -> ReportedEvent {
        try await process.event(name, after: start)
    }

    /// Gives the player a command, as a listener would.
    func command(_ text: String) throws { try process.send(text) }

    /// How many bytes of samples there are so far in a file of this run's own.
    var soundCount: Int64 {
        var status = stat()
        return stat(soundPath, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Waits for the end and returns the samples. Throws when the exit code is not 0.
    @discardableResult
    func finish() async throws -> Data {
        let status = try await process.waitForExit()
        guard status == 0 else {
            let lines = process.lines.suffix(3).joined(separator: "\n")
            throw ExactFailure(
                "reprise ended with \(status): \(process.errorText)\n\(lines)"
            )
        }
        return takeSound()
    }

    /// The samples that there are by now; they are there no more after that.
    func takeSound() -> Data {
        let sound = FileManager.default.contents(atPath: soundPath) ?? Data()
        // A long piece is 40 MB of samples; the tests of all of them would fill a small disk.
        try? FileManager.default.removeItem(atPath: soundPath)
        return sound
    }

    /// Kills the process, and returns when it has ended.
    func kill() async throws {
        process.signal(SIGKILL)
        try await process.waitForExit()
        try? FileManager.default.removeItem(atPath: soundPath)
    }
}
