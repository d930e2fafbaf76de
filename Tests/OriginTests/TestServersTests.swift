import Foundation
import TestSupport
import Testing

/// The real programs that other tests run against start, answer and end.
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

    @Test func `nginx serves ranges of a folder and logs what it sent`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(ByteFixtures.bytes(count: 100_000, seed: 1), to: "a.mp3")
        let server = try await NginxServer(serving: folder.path)
        let body = try await RunningProcess.run("curl", ["-s", "-r", "10-109", server.url("/a.mp3")])
        #expect(body == Array(ByteFixtures.bytes(count: 110, seed: 1)[10...]))
        try await wait(for: "the access log") { server.accesses.count == 1 }
        #expect(server.accesses.first?.status == 206)
        #expect(server.accesses.first?.bytes == 100)
        #expect(server.accesses.first?.range == "bytes=10-109")
        try await server.stop()
    }

    @Test func `what is played on the pulse server is recorded, also after a restart`() async throws {
        let server = try await PulseServer()
        try await server.restart()
        let folder = try TemporaryFolder()
        let tone = (0..<44_100 * 4).map { Int16(8_000 * sin(2 * Double.pi * 420 * Double($0 / 2) / 44_100)) }
        let wave = try folder.write(WaveFile.bytes(tone, sampleRate: 44_100, channels: 2), to: "a.wav")
        let recording = try server.record()
        try await wait(for: "the recording") { recording.frameCount > 0 }
        _ = try await RunningProcess.run("paplay", [wave], environment: server.environment)
        let left = PCM.channel(0, of: try await recording.stop(), channels: 2)
        let heard = Set(
            stride(from: 0, to: left.count - 2_205, by: 2_205).map {
                ToneAnalysis.second(of: left[$0..<$0 + 2_205], sampleRate: 44_100)
            }
        )
        #expect(heard.contains(10))
        #expect(heard.subtracting([10, nil]).count <= 1)
        try await server.stop()
    }

    @Test func `a terminal is typed into, resized and read back`() async throws {
        let session = try await TmuxSession(
            ["sh", "-c", "echo \"[$WORD]\"; read line; stty size; exit 3"],
            columns: 60,
            rows: 10,
            environment: ["WORD": "it's here"]
        )
        #expect(try await session.wait(for: "[it's here]").count == 10)
        try await session.resize(columns: 50, rows: 12)
        try await session.type("x")
        try await session.sendKeys("Enter")
        try await session.wait(for: "12 50")
        try await wait(for: "the end") { session.exitCode == 3 }
        try await session.kill()
    }
}
