import Foundation
import TestSupport
import Testing

/// What one run of the binary said until it ended.
struct BadInputRun {
    let status: Int32
    let output: String
    let errorOutput: String

    /// Waits for the end of `process`.
    init(endOf process: RunningProcess) async throws {
        status = try await process.waitForExit()
        output = String(decoding: process.output, as: UTF8.self)
        errorOutput = process.errorText
    }

    /// The lines of standard error.
    var errorLines: [String] { errorOutput.split(separator: "\n").map(String.init) }

    /// The events of standard output; a line that is not an event fails the test.
    var events: [ReportedEvent] {
        output.split(separator: "\n").compactMap { line in
            guard let event = try? ReportedEvent(line: String(line)) else {
                Issue.record("this is no event: \(line)")
                return nil
            }
            return event
        }
    }

    func events(_ name: String) -> [ReportedEvent] { events.filter { $0.event == name } }

    /// The frames of each track that was heard to its end, in their order.
    var finished: [Int64] { events("ended").filter { $0.reason == "finished" }.compactMap(\.frames) }

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

/// The secrets that the tests of bad input pass to the player, and that must not appear anywhere.
let badInputSecret = "s3cr3t"

/// Expects that `run` ended with `status` after one line on standard error, which contains all of `words`,
/// and that its output can neither harm a terminal nor reveal a secret.
func expectOneSentence(
    _ run: BadInputRun,
    _ words: [String],
    status: Int32,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(run.status == status, "it said: \(run.errorOutput)", sourceLocation: sourceLocation)
    #expect(run.errorLines.count == 1, "it said: \(run.errorOutput)", sourceLocation: sourceLocation)
    let sentence = run.errorLines.first ?? ""
    #expect(sentence.hasPrefix("reprise: "), sourceLocation: sourceLocation)
    for word in words {
        #expect(sentence.contains(word), "\(word) is not in: \(sentence)", sourceLocation: sourceLocation)
    }
    expectHarmless(run, sourceLocation: sourceLocation)
}

/// Expects that the output of `run` can neither harm a terminal nor reveal a secret.
func expectHarmless(_ run: BadInputRun, sourceLocation: SourceLocation = #_sourceLocation) {
    for text in [run.output, run.errorOutput] {
        #expect(!text.contains(badInputSecret), sourceLocation: sourceLocation)
        let harmful = text.unicodeScalars.filter(isHarmful)
        #expect(
            harmful.isEmpty,
            "\(harmful.map(\.value)) in: \(text.debugDescription)",
            sourceLocation: sourceLocation
        )
    }
}

/// `true` if a terminal could take `scalar` for more than a character: C0 but for the line end, DEL, C1, and
/// the controls that turn the direction of reading.
private func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A: false
    case 0x00..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
}
