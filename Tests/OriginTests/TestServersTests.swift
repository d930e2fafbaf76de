import Foundation
import TestSupport
import Testing

/// The processes of other tests start, answer and end.
@Suite struct TestServersTests {
    @Test func `a process gives its lines and a large output whole`() async throws {
        let process = try RunningProcess(
            "/bin/sh",
            ["-c", "read word; echo got $word; head -c 20000000 /dev/zero; exit 7"]
        )
        try process.send("hello")
        #expect(try await process.waitForLine { $0.hasPrefix("got") } == "got hello")
        #expect(try await process.waitForExit() == 7)
        #expect(process.outputCount == 20_000_010)
    }

    @Test func `a process reports the signal that ended it, and one that ends without the line fails`()
        async throws
    {
        let process = try RunningProcess("sleep", ["1000"])
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == -SIGTERM)
        await #expect(throws: RunningProcess.Failure.self) { try await process.waitForLine { _ in true } }
    }
}
