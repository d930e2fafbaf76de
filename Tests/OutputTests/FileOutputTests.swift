import Foundation
import Media
@testable import Output
import TestSupport
import Testing

struct FileOutputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func connected(_ sink: SinkKind, _ sample: SinkSample = .s16) async throws -> any AudioOutput {
        let output = sink.makeOutput(clock: TestClock(), sample: sample)
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

    /// Opens `output` for `pcm` and starts it.
    @discardableResult
    private func start(
        _ output: any AudioOutput,
        _ format: AudioFormat = .cd,
        pcm: [UInt8]
    ) async throws -> FakeReader {
        let reader = FakeReader(format)
        reader.append(pcm)
        reader.finish()
        try await output.open(format, reader: reader)
        try await output.start()
        return reader
    }

    private func play(_ output: any AudioOutput, _ format: AudioFormat, frames: Int) async throws {
        try await play(output, format, pcm: format.numbered(frames))
    }

    private func play(_ output: any AudioOutput, _ format: AudioFormat, pcm: [UInt8]) async throws {
        try await start(output, format, pcm: pcm)
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

    /// The header of a file with `format` and `sample`, as `sox` and `ffmpeg` expect it.
    @Test(
        arguments: [
            (
                2, .f32,
                [
                    0xFE, 0xFF, 2, 0, 0x44, 0xAC, 0, 0, 0x20, 0x62, 5, 0, 8, 0, 32, 0, 22, 0, 32, 0, 3, 0, 0,
                    0,
                ]
                    + [3, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
            ),
            (1, .s24, [1, 0, 1, 0, 0x44, 0xAC, 0, 0, 0xCC, 0x04, 2, 0, 3, 0, 24, 0]),
            (
                6, .s16,
                [
                    0xFE, 0xFF, 6, 0, 0x44, 0xAC, 0, 0, 0x30, 0x13, 8, 0, 12, 0, 16, 0, 22, 0, 16, 0, 0x3F, 0,
                    0, 0,
                ]
                    + [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
            ),
        ] as [(Int, SinkSample, [UInt8])]
    )
    func `a RIFF header states the samples, and the channels if there are more than two`(
        channels: Int,
        sample: SinkSample,
        fields: [UInt8]
    ) async throws {
        let output = try await connected(.wav(path: folder.path("a.wav")), sample)
        let format = AudioFormat(sampleRate: 44_100, channelCount: channels)
        try await play(output, format, pcm: [UInt8](repeating: 0, count: 100 * format.bytesPerFrame))
        await output.close()
        let bytes = folder.bytes("a.wav")
        #expect(Array(bytes[20..<20 + fields.count]) == fields)
        #expect(Array(bytes[16..<20]) == [UInt8(fields.count), 0, 0, 0])
        let size = 100 * channels * Int(fields[14]) / 8
        #expect(bytes.count == 28 + fields.count + size)
        #expect(
            Array(bytes[24 + fields.count..<28 + fields.count]) == [
                UInt8(size & 0xFF), UInt8(size >> 8), 0, 0,
            ]
        )
    }

    @Test func `tracks of one format follow each other in one file`() async throws {
        let output = try await connected(.raw(path: folder.path("a.raw")))
        #expect(output.joining == .exactly)
        try await play(output, .cd, frames: 5_000)
        try await play(output, .cd, frames: 300)
        await output.close()
        #expect(folder.bytes("a.raw") == AudioFormat.cd.numbered(5_000) + AudioFormat.cd.numbered(300))
    }

    @Test func `PCM of odd length is padded, which only the size of the file counts`() async throws {
        let output = try await connected(.wav(path: folder.path("a.wav")), .s24)
        let format = AudioFormat(sampleRate: 44_100, channelCount: 1)
        try await play(output, format, frames: 3)
        await output.close()
        let bytes = folder.bytes("a.wav")
        #expect(bytes.count == 44 + 9 + 1)
        #expect(Array(bytes[4..<8]) == [46, 0, 0, 0] && Array(bytes[40..<44]) == [9, 0, 0, 0])
    }

    @Test func `a second format without a number in the path is refused`() async throws {
        let output = try await connected(.wav(path: folder.path("a.wav")))
        try await play(output, .cd, frames: 50)
        let error = await #expect(throws: MediaError.self) { try await play(output, .speech, frames: 50) }
        #expect(error?.code == .sinkFormat && error?.description.contains("%n") == true)
        await output.close()
        #expect(folder.bytes("a.wav").count == 44 + 200)
    }

    @Test func `tracks with other samples follow each other in one file`() async throws {
        let output = try await connected(.raw(path: folder.path("a.raw")))
        try await play(output, .cd, frames: 300)
        for sample in [SampleFormat.s32, .f32] {
            let format = AudioFormat(sampleRate: 44_100, channelCount: 2, sample: sample)
            try await play(output, format, pcm: [UInt8](repeating: 0, count: 50 * format.bytesPerFrame))
        }
        try await play(output, .cd, frames: 70)
        #expect(output.heardFrames == 70)
        await output.close()
        let silence = [UInt8](repeating: 0, count: 2 * 50 * 4)
        #expect(
            folder.bytes("a.raw") == AudioFormat.cd.numbered(300) + silence + AudioFormat.cd.numbered(70)
        )
    }

    @Test func `with a number in the path each open makes the next file`() async throws {
        let output = try await connected(.wav(path: folder.path("track %n.wav")))
        #expect(output.joining == .never)
        try await play(output, .cd, frames: 50)
        try await play(output, .speech, frames: 60)
        try await play(output, .speech, frames: 70)
        await output.close()
        #expect(folder.names == ["track 1.wav", "track 2.wav", "track 3.wav"])
        #expect(folder.names.map { folder.bytes($0).count } == [244, 164, 184])
        #expect(Array(folder.bytes("track 3.wav")[40..<44]) == [140, 0, 0, 0])
    }

    /// The file may be the music that is about to play, named by itself, in a folder or in a playlist.
    @Test(arguments: [
        SinkKind.wav(path: "song"), .raw(path: "song"), .wav(path: "song%n"), .raw(path: "song%n"),
    ])
    func `a file that exists is never written over, unless it is empty`(kind: SinkKind) async throws {
        func sink() -> SinkKind {
            switch kind {
            case .wav(let name): .wav(path: folder.path(name))
            case .raw(let name): .raw(path: folder.path(name))
            default: kind
            }
        }
        for name in ["song", "song1"] { try folder.write("RIFF....WAVEmusic", to: name) }
        let output = sink().makeOutput(clock: TestClock())
        let error = await #expect(throws: MediaError.self) { try await output.connect() }
        await output.close()
        #expect(error?.code == .sinkFailed && error?.reason == "exists already")
        #expect(folder.bytes("song") == Array("RIFF....WAVEmusic".utf8))
        #expect(folder.bytes("song1") == Array("RIFF....WAVEmusic".utf8))
        for name in ["song", "song1"] { try folder.write("", to: name) }
        let second = try await connected(sink())
        try await play(second, .cd, frames: 10)
        await second.close()
        #expect(folder.bytes("song").count + folder.bytes("song1").count >= 40)
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
        let reader = try await start(output, pcm: AudioFormat.cd.numbered(100_000))
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
        try await start(output, pcm: AudioFormat.cd.numbered(60_000))
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
