import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite
struct JournalTests {
    private var request: RequestRecord {
        let asked: ByteRange = 0..<65_536
        var request = RequestRecord(
            number: 7,
            urgency: .readAhead,
            asked: asked,
            startedAt: .milliseconds(250)
        )
        request.status = 206
        request.answered = asked
        request.bytes = 65_536
        request.end = "complete"
        request.firstByte = .milliseconds(40)
        request.duration = .milliseconds(90)
        request.wire.version = "HTTP/1.1"
        request.wire.reusedConnection = true
        return request
    }

    private func record(_ event: JournalRecord.Event) -> JournalRecord {
        JournalRecord(time: .milliseconds(340), resource: "http://h/a.mp3", event: event)
    }

    @Test func `a request is one line with its reason, range and result`() {
        #expect(
            record(.request(request)).line
                == #"{"t":0.34,"event":"request","resource":"http://h/a.mp3","number":7,"why":"read-ahead","#
                + #""asked":"0-65535","started":0.25,"firstByte":0.04,"duration":0.09,"status":206,"#
                + #""answered":"0-65535","bytes":65536,"end":"complete","version":"HTTP/1.1","reused":true,"#
                + #""host":null}"#
        )
    }

    @Test func `unknown values are null, and an open range has no end`() {
        var request = RequestRecord(number: 1, urgency: .demand, asked: 100 ..< .max, startedAt: .zero)
        request.end = "timed-out"
        #expect(
            record(.request(request)).line
                == #"{"t":0.34,"event":"request","resource":"http://h/a.mp3","number":1,"why":"demand","#
                + #""asked":"100-","started":0,"firstByte":null,"duration":0,"status":null,"answered":null,"#
                + #""bytes":0,"end":"timed-out","version":null,"reused":null,"host":null}"#
        )
    }

    @Test func `a decision has its reason`() {
        #expect(
            record(.decision(.retryLater, "the host cannot be found")).line
                == #"{"t":0.34,"event":"decision","resource":"http://h/a.mp3","decision":"retry-later","#
                + #""reason":"the host cannot be found"}"#
        )
    }

    @Test func `lines are appended in order to a file that is for its owner alone`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        for session in 0..<2 {
            let journal = try JournalFile(path: path, clock: TestClock())
            for number in 0..<500 {
                var request = request
                request.number = session * 500 + number
                journal.record(record(.request(request)))
            }
            await journal.finish()
            journal.record(record(.decision(.gaveUp, "too late")))
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let numbers = try lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["number"] as? Int
        }
        #expect(numbers == Array(0..<1_000))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a file that cannot be written is refused with the reason`() throws {
        let folder = try TemporaryFolder()
        for (name, reason) in [("", "Is a directory"), ("/a/b", "No such file or directory")] {
            let path = folder.path + name
            #expect(throws: UsageError("can't write --journal \(path) (\(reason))")) {
                try JournalFile(path: path, clock: TestClock())
            }
        }
    }

    @Test func `a pipe without a reader delays neither the start nor the end`() async throws {
        let pipe = PipeEnds()
        let clock = TestClock()
        let journal = try JournalFile(path: "/dev/fd/\(pipe.writing)", clock: clock)
        for _ in 0..<5_000 { journal.record(record(.request(request))) }
        let isFinished = Locked(false)
        Task {
            await journal.finish()
            isFinished.withLock { $0 = true }
        }
        try await wait(for: "the limit") { clock.sleeperCount == 1 }
        #expect(!isFinished.withLock { $0 })
        clock.advance(by: JournalFile.writeLimit)
        try await wait(for: "the end of the journal") { isFinished.withLock { $0 } }
    }
}
