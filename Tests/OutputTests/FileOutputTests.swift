import Foundation
import Media
@testable import Output
import TestSupport
import Testing

struct FileOutputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func connected(_ sink: SinkKind) async throws -> any AudioOutput {
        let output = sink.makeOutput(clock: TestClock())
        try await output.connect()
        return output
    }

    /// An output into a pipe, and the descriptor of its other end.
    private func connectedPipe() async throws -> (output: any AudioOutput, end: CInt) {
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let end = Glibc.open(path, O_RDONLY | O_NONBLOCK)
        return (try await connected(.raw(path: path)), end)
    }

    /// Opens `output` for `frames` frames and starts it.
    @discardableResult
    private func start(
        _ output: any AudioOutput,
        _ format: AudioFormat = .cd,
        frames: Int
    ) async throws -> FakeReader {
        let reader = FakeReader(format)
        reader.append(format.numbered(frames))
        reader.finish()
        try await output.open(format, reader: reader)
        try await output.start()
        return reader
    }

    private func play(_ output: any AudioOutput, _ format: AudioFormat, frames: Int) async throws {
        try await start(output, format, frames: frames)
        await output.drain()
    }

    @Test func `a RIFF header states format and sizes`() async throws {
        let output = try await connected(.wav(path: folder.path("a.wav")))
        try await play(output, .speech, frames: 1_000)
        await output.close()
        let expected: [UInt8] =
            Array("RIFF".utf8) + [0xF4, 0x07, 0, 0] + Array("WAVEfmt ".utf8)
            + [16, 0, 0, 0, 1, 0, 1, 0, 0x22, 0x56, 0, 0, 0x44, 0xAC, 0, 0, 2, 0, 16, 0]
            + Array("data".utf8) + [0xD0, 0x07, 0, 0]
        #expect(folder.bytes("a.wav") == expected + AudioFormat.speech.numbered(1_000))
    }

    @Test func `tracks of one format follow each other in one file`() async throws {
        let output = try await connected(.raw(path: folder.path("a.raw")))
        #expect(!output.opensEachTrack)
        try await play(output, .cd, frames: 5_000)
        try await play(output, .cd, frames: 300)
        await output.close()
        #expect(folder.bytes("a.raw") == AudioFormat.cd.numbered(5_000) + AudioFormat.cd.numbered(300))
    }

    @Test func `a second format without a number in the path is refused`() async throws {
        let output = try await connected(.wav(path: folder.path("a.wav")))
        try await play(output, .cd, frames: 50)
        let error = await #expect(throws: MediaError.self) { try await play(output, .speech, frames: 50) }
        #expect(error?.code == .sinkFormat && error?.description.contains("%n") == true)
        await output.close()
        #expect(folder.bytes("a.wav").count == 44 + 200)
    }

    @Test(arguments: [SampleFormat.s32, .f32])
    func `samples that are not of 16 bits are refused, and a later track of 16 bits plays`(
        sample: SampleFormat
    ) async throws {
        let output = try await connected(.raw(path: folder.path("track %n.raw")))
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2, sample: sample)
        let error = await #expect(throws: MediaError.self) { try await play(output, format, frames: 50) }
        #expect(error?.code == .sinkFormat)
        try await play(output, .cd, frames: 50)
        await output.close()
        #expect(folder.bytes("track 1.raw") == AudioFormat.cd.numbered(50))
    }

    @Test func `with a number in the path each open makes the next file`() async throws {
        let output = try await connected(.wav(path: folder.path("track %n.wav")))
        #expect(output.opensEachTrack)
        try await play(output, .cd, frames: 50)
        try await play(output, .speech, frames: 60)
        try await play(output, .speech, frames: 70)
        await output.close()
        #expect(folder.names == ["track 1.wav", "track 2.wav", "track 3.wav"])
        #expect(folder.names.map { folder.bytes($0).count } == [244, 164, 184])
        #expect(Array(folder.bytes("track 3.wav")[40..<44]) == [140, 0, 0, 0])
    }

    @Test(arguments: ["no/such/folder", "."])
    func `connect fails if the file can't be created`(name: String) async throws {
        let output = SinkKind.raw(path: folder.path(name)).makeOutput(clock: TestClock())
        let error = await #expect(throws: MediaError.self) { try await output.connect() }
        #expect(error?.code == .sinkFailed)
        await output.close()
    }

    /// Without its reader, a write into a pipe would also end the process by a signal.
    @Test(arguments: [true, false])
    func `a full disk or a pipe without a reader is reported once, and ends the drain`(isDisk: Bool)
        async throws
    {
        let output: any AudioOutput
        if isDisk {
            output = try await connected(.raw(path: "/dev/full"))
        } else {
            let end: CInt
            (output, end) = try await connectedPipe()
            Glibc.close(end)
        }
        let events = EventLog()
        events.listen(to: output)
        try await play(output, .cd, frames: 100_000)
        // The drain may end a moment before the loss is reported.
        try await wait(for: "the loss") { events.loss != nil }
        #expect(events.loss?.code == .sinkFailed)
        await #expect(throws: MediaError.self) { try await output.start() }
        #expect(events.all.count == 1)
        await output.close()
    }

    @Test func `a full pipe delays neither pause, flush nor close`() async throws {
        let (output, end) = try await connectedPipe()
        defer { Glibc.close(end) }
        let reader = try await start(output, frames: 100_000)
        // A pipe holds 64 KiB.
        try await wait(for: "the pipe to be full") { output.heardFrames >= 65_536 / 4 - 4_096 }
        await output.pause()
        await output.flush()
        #expect(output.heardFrames == reader.takenFrames)
        try await output.start()
        await output.close()
    }

    @Test func `a pipe gets every byte, however slowly it is read`() async throws {
        let (output, end) = try await connectedPipe()
        defer { Glibc.close(end) }
        try await start(output, frames: 60_000)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_777)
        try await wait(for: "all bytes") {
            let count = read(end, &buffer, buffer.count)
            if count > 0 { received += buffer[..<count] }
            if received.count % 7 == 0 {
                await output.pause()
                try await output.start()
            }
            return received.count == 240_000
        }
        await output.drain()
        await output.close()
        #expect(received == AudioFormat.cd.numbered(60_000))
    }
}
