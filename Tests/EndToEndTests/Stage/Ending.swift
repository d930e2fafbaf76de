import Foundation
import TestSupport
import Testing

/// The exit code and the output of a run of the player that has ended.
struct Ending: Sendable {
    let status: Int32
    /// Standard output.
    let bytes: [UInt8]
    /// Standard error.
    let errors: String
    /// The samples that the sink received; empty without a sink that keeps them.
    var samples = Data()

    /// Waits for the end of `process`.
    init(of process: RunningProcess) async throws {
        status = try await process.waitForExit()
        bytes = process.output
        errors = process.errorText
    }

    var output: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [String] { output.split(separator: "\n").map(String.init) }
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// Every line of standard output, each of which is a JSON object.
    var objects: [[String: Any]] {
        get throws {
            try lines.map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try #require(object, "not a JSON object: \(line)")
            }
        }
    }

    /// The events of standard output; a line that is not an event fails the test.
    var events: [ReportedEvent] {
        lines.compactMap { line in
            guard let event = try? ReportedEvent(line: line) else {
                Issue.record("not an event: \(line)")
                return nil
            }
            return event
        }
    }

    func events(_ name: String) -> [ReportedEvent] { events.filter { $0.event == name } }

    /// The frames of each track that was heard to its end, in their order.
    var finished: [Int64] { events("ended").filter { $0.reason == "finished" }.compactMap(\.frames) }

    /// The first failure of a track; `nil` if there is none.
    var failure: ReportedEvent.Failure? { events("ended").compactMap(\.error).first }

    /// The code of each failure of a track, or of a source without tracks.
    var failureCodes: [String] {
        events.compactMap { event in
            switch event.event {
            case "ended": event.error?.code
            // Waits and being offline may be temporary; a lasting failure is reported at the track's end.
            case "notice": ["reconnecting", "offline", "online"].contains(event.code) ? nil : event.code
            default: nil
            }
        }
    }
}

extension RunningProcess {
    /// Ends the player by its command, which has to succeed.
    @discardableResult
    func quit(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Ending {
        try send("quit")
        let ending = try await Ending(of: self)
        #expect(ending.status == 0, "it printed: \(ending.errors)", sourceLocation: sourceLocation)
        return ending
    }

    /// Sends a command, and waits for the first event of this name after it.
    @discardableResult
    func event(_ name: String, of command: String) async throws -> ReportedEvent {
        let count = lines.count
        try send(command)
        return try await event(name, after: count)
    }
}

/// The secrets that the tests of bad input pass to the player, and that must not appear anywhere.
let badInputSecret = "s3cr3t"

/// Expects that `run` ended with `status` after one line on standard error, which contains all of `words`,
/// and that its output can neither harm a terminal nor reveal a secret.
func expectOneSentence(
    _ run: Ending,
    _ words: [String],
    status: Int32,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(run.status == status, "it printed: \(run.errors)", sourceLocation: sourceLocation)
    #expect(run.errorLines.count == 1, "it printed: \(run.errors)", sourceLocation: sourceLocation)
    let sentence = run.errorLines.first ?? ""
    #expect(sentence.hasPrefix("reprise: "), sourceLocation: sourceLocation)
    for word in words {
        #expect(sentence.contains(word), "\(word) is not in: \(sentence)", sourceLocation: sourceLocation)
    }
    expectHarmless(run, sourceLocation: sourceLocation)
}

/// Expects that the output of `run` can neither harm a terminal nor reveal a secret.
func expectHarmless(_ run: Ending, sourceLocation: SourceLocation = #_sourceLocation) {
    for text in [run.output, run.errors] {
        #expect(!text.contains(badInputSecret), sourceLocation: sourceLocation)
        let harmful = text.unicodeScalars.filter { $0 != "\n" && TerminalBytes.isHarmful($0) }
        #expect(
            harmful.isEmpty,
            "\(harmful.map(\.value)) in: \(text.debugDescription)",
            sourceLocation: sourceLocation
        )
    }
}
