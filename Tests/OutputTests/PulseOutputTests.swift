import Foundation
import Media
@testable import Output
import TestSupport
import Testing

/// `PulseOutput` with a server that each test starts.
@Suite(.serialized)
struct PulseOutputTests {
    /// The most frames that a recording can lack at the start of a stream: the sink replaces silence that it
    /// rendered ahead, which the monitor has recorded by then. The sink's 20 ms, and some for a busy machine.
    private static let longestGapAtStart = 3_000

    private let server: PulseServer
    private let output: PulseOutput
    private let reader = FakeReader()
    private let events = EventLog()
    /// Times the requests; it stands still until a test advances it.
    private let clock = TestClock()

    init() async throws {
        server = try await PulseServer()
        output = PulseOutput(sink: "test", server: server.address, clock: clock)
        events.listen(to: output)
        try await output.connect()
    }

    /// Opens the output for `frames` frames, after which the reader ends if `isFinished`, and starts it.
    private func play(frames: Int, isFinished: Bool = false) async throws {
        reader.append(AudioFormat.cd.numbered(frames))
        if isFinished { reader.finish() }
        try await output.open(.cd, reader: reader)
        try await output.start()
    }

    /// Plays 20 seconds, and returns when the first tenth of a second was heard.
    private func playMusic() async throws {
        try await play(frames: 44_100 * 20)
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
    }

    /// Records what the sink plays from now on; returns when the recording runs.
    private func record() async throws -> PulseRecording {
        let recording = try server.record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        return recording
    }

    /// Waits until `recording` ends with the last of `given`, and returns its frames.
    private func recorded(_ recording: PulseRecording, endingWith given: [UInt32]) async throws -> [UInt32] {
        try await wait(for: "the recording's end") { recording.soundingFrames.last == given.last }
        return recording.soundingFrames
    }

    /// The numbers of all streams at the server.
    private func streams() async throws -> [Substring] {
        try await server.pactl("list", "short", "sink-inputs").split(separator: "\n").map {
            $0.prefix { $0.isNumber }
        }
    }

    /// The number of the output's stream at the server.
    private func streamIndex() async throws -> String {
        String(try await server.pactl("list", "short", "sink-inputs").prefix { $0.isNumber })
    }

    /// Lets the pending request exceed its time limit.
    private func exceedLimit() async throws {
        try await wait(for: "the request") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
    }

    /// `count` numbered frames from frame `first` on, each as one number.
    private func frames(_ count: Int, from first: Int = 0) -> [UInt32] {
        PulseRecording.soundingFrames(of: AudioFormat.cd.numbered(count, from: first))
    }

    @Test func `the server plays every frame, to the last`() async throws {
        let recording = try await record()
        try await play(frames: 0)
        for part in 0..<10 {
            reader.append(AudioFormat.cd.numbered(6_000, from: part * 6_000))
            output.framesAvailable()
        }
        reader.finish()
        output.framesAvailable()
        await output.drain()
        #expect(output.heardFrames == 60_000)
        let recorded = try await recorded(recording, endingWith: frames(60_000))
        let places = Dictionary(uniqueKeysWithValues: frames(60_000).enumerated().map { ($1, $0) })
        let heard = recorded.compactMap { places[$0] }
        #expect(heard.count == recorded.count && events.all.isEmpty)
        // If the machine stands still for longer than the server's buffer lasts, the server plays silence and
        // a gap opens, once or twice. An output that loses frames would lose some at each of its writes.
        let gaps = zip(heard, heard.dropFirst()).map { $1 - $0 - 1 }.filter { $0 != 0 }
        let missing = [heard.first ?? 60_000] + gaps
        #expect(gaps.count <= 2 && missing.allSatisfy { (0..<Self.longestGapAtStart).contains($0) })
    }

    @Test func `after a pause the music continues where it was paused`() async throws {
        let recording = try await record()
        try await play(frames: 40_000, isFinished: true)
        try await wait(for: "music to be heard") { output.heardFrames > 8_000 }
        await output.pause()
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == 40_000)
        let recorded = try await recorded(recording, endingWith: frames(40_000))
        #expect(Set(frames(40_000)).subtracting(recorded).count < 2 * Self.longestGapAtStart)
    }

    @Test func `a flush drops the server's buffer, and the frames after it are heard next`() async throws {
        let recording = try await record()
        try await playMusic()
        await output.pause()
        let heard = output.heardFrames
        await output.flush()
        #expect(output.heardFrames == reader.takenFrames)
        reader.dropRest()
        let behind = frames(10_000, from: 1_000_000)
        reader.append(AudioFormat.cd.numbered(10_000, from: 1_000_000))
        reader.finish()
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == reader.takenFrames)
        let recorded = try await recorded(recording, endingWith: behind)
        let new = Set(behind)
        let first = try #require(recorded.firstIndex { new.contains($0) })
        #expect(Array(recorded[first...]) == behind.suffix(recorded.count - first))
        #expect(10_000 - (recorded.count - first) < Self.longestGapAtStart)
        // Frames that were taken but not heard are not in the recording.
        #expect(first < reader.takenFrames - 10_000)
        #expect(abs(first - Int(heard)) < 2 * Self.longestGapAtStart)
    }

    @Test(
        arguments: [(48_000, 2), (96_000, 2), (22_050, 1), (44_100, 6), (8_000, 1), (44_100, 2)]
            as [(Int, Int)]
    )
    func `a stream stays at the server until the next one plays`(rate: Int, channels: Int)
        async throws
    {
        try await play(frames: 9_000, isFinished: true)
        await output.drain()
        let first = try #require(try await streams().first)
        let next = FakeReader()
        try await output.open(AudioFormat(sampleRate: rate, channelCount: channels), reader: next)
        let both = try await streams()
        #expect(both.count == 2 && both.contains(first))
        #expect(output.heardFrames == 0)
        next.append([UInt8](repeating: 1, count: rate * channels))
        try await output.start()
        let last = try await streams()
        #expect(last.count == 1 && !last.contains(first))
        try await wait(for: "the next stream to be heard") { output.heardFrames > 0 }
        #expect(events.loss == nil)
    }

    @Test func `the server keeps at most one earlier stream, and none of a player that is paused`()
        async throws
    {
        try await playMusic()
        await output.pause()
        for _ in 0..<3 {
            try await output.open(.cd, reader: FakeReader())
            #expect(try await streams().count == 2)
        }
        await output.pause()
        #expect(try await streams().count == 1)
        await output.close()
        #expect(try await streams().isEmpty)
    }

    @Test func `an underrun is reported once, and all frames after it are heard`() async throws {
        let recording = try await record()
        try await play(frames: 5_000)
        try await wait(for: "the underrun") { !events.all.isEmpty }
        reader.append(AudioFormat.cd.numbered(5_000, from: 5_000))
        reader.finish()
        output.framesAvailable()
        await output.drain()
        #expect(events.all == [.underrun])
        let recorded = try await recorded(recording, endingWith: frames(10_000))
        let missing = Set(frames(10_000)).subtracting(recorded)
        #expect(missing.count < 2 * Self.longestGapAtStart && missing.count < 5_000)
    }

    @Test func `a server that dies is reported as lost, and every wait ends`() async throws {
        try await playMusic()
        let drain = Task { [output] in await output.drain() }
        try await server.crash()
        await drain.value
        try await wait(for: "the loss") { events.loss != nil }
        #expect(events.all.count == 1 && events.loss?.code == .audioLost)
        #expect((4_411...reader.takenFrames).contains(output.heardFrames))
        output.framesAvailable()
        output.setVolume(30, isMuted: false)
        await output.pause()
        await output.flush()
        await #expect(throws: MediaError.self) { try await output.start() }
        await #expect(throws: MediaError.self) { try await output.open(.cd, reader: reader) }
        await #expect(throws: MediaError.self) { try await output.connect() }
    }

    @Test func `a server that hangs is reported as lost once, and every wait ends`() async throws {
        try await playMusic()
        let drain = Task { [output] in await output.drain() }
        server.freeze()
        let pause = Task { [output] in await output.pause() }
        try await exceedLimit()
        await pause.value
        await drain.value
        #expect(events.all.count == 1 && events.loss?.code == .audioLost)
        #expect(events.loss?.description.contains("does not answer") == true)
        await output.flush()
        #expect(try await code(of: { try await output.start() }) == .audioLost)
        #expect(try await code(of: { try await output.open(.cd, reader: reader) }) == .audioLost)
        let connecting = Task { [output] in try await code(of: { try await output.connect() }) }
        try await exceedLimit()
        #expect(try await connecting.value == .audioServer)
        await output.close()
        #expect(events.all.count == 1)
    }

    @Test func `a server that hangs while a stream is opened is reported as lost`() async throws {
        server.freeze()
        let opening = Task { [output, reader] in
            try await code(of: { try await output.open(.cd, reader: reader) })
        }
        try await exceedLimit()
        #expect(try await opening.value == .audioLost)
        #expect(events.loss?.code == .audioLost)
    }

    @Test func `a stream that the server ends is reported as lost, and can be opened again`() async throws {
        try await playMusic()
        try await server.pactl("unload-module", "module-null-sink")
        try await wait(for: "the loss") { events.loss != nil }
        try await server.pactl("load-module", "module-null-sink", "sink_name=test")
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 0 }
    }

    @Test func `the position stands still while the sink is suspended, and then continues`() async throws {
        try await playMusic()
        try await server.pactl("suspend-sink", "test", "1")
        try await wait(for: "the position to stand still") {
            let heard = output.heardFrames
            try await server.pactl("info")
            return output.heardFrames == heard
        }
        let heard = output.heardFrames
        let taken = reader.takenFrames
        #expect(heard < taken)
        for _ in 0..<5 { try await server.pactl("info") }
        #expect(output.heardFrames == heard && reader.takenFrames == taken)
        try await server.pactl("suspend-sink", "test", "0")
        try await wait(for: "the music to go on") { output.heardFrames > heard + 4_410 }
        #expect(output.heardFrames <= reader.takenFrames)
        #expect(events.loss == nil)
    }

    @Test func `a stream that is moved to another sink plays on there`() async throws {
        try await playMusic()
        try await server.pactl("load-module", "module-null-sink", "sink_name=other", "rate=48000")
        let index = try await streamIndex()
        let heard = output.heardFrames
        try await server.pactl("move-sink-input", index, "other")
        try await wait(for: "the music to go on") { output.heardFrames > heard + 22_050 }
        #expect(output.heardFrames <= reader.takenFrames)
        // The end of the sink that it left does not affect the stream.
        let modules = try await server.pactl("list", "short", "modules").split(separator: "\n")
        let module = try #require(modules.first { $0.contains("sink_name=test") })
        try await server.pactl("unload-module", String(module.prefix { $0.isNumber }))
        let later = output.heardFrames
        try await wait(for: "the music to go on") { output.heardFrames > later + 22_050 }
        #expect(events.loss == nil)
    }

    @Test func `the server asks to pause for a call, and to resume after it`() async throws {
        try await server.pactl("load-module", "module-role-cork")
        try await playMusic()
        // A stream whose role lets policies silence music.
        let arguments = ["--property=media.role=phone", "/dev/zero"]
        let call = try RunningProcess("pacat", arguments, environment: server.environment)
        // The server also mutes the stream, which is reported like any change at the server.
        try await wait(for: "the request to pause") { events.all.contains(.pauseRequested) }
        #expect(!events.all.contains(.resumeRequested))
        // Only a stream that has paused is notified at the end of the call.
        await output.pause()
        call.signal(SIGKILL)
        try await wait(for: "the request to resume") { events.all.contains(.resumeRequested) }
        #expect(events.all.filter { $0 == .pauseRequested }.count == 1)
    }

    @Test func `an unknown sink is refused, and the error names it`() async throws {
        let other = PulseOutput(sink: "no-such-sink", server: server.address, clock: clock)
        try await other.connect()
        let error = await #expect(throws: MediaError.self) { try await other.open(.cd, reader: reader) }
        #expect(error?.code == .sinkFailed && error?.description.contains("no-such-sink") == true)
        await other.close()
    }

    @Test func `the volume is the stream's own at the server, in both directions`() async throws {
        try await output.open(.cd, reader: reader)
        output.setVolume(40, isMuted: true)
        try await wait(for: "the server to have it") {
            let list = try await server.pactl("list", "sink-inputs")
            return list.contains(" 40% ") && list.contains("Mute: yes")
        }
        let index = try await streamIndex()
        try await server.pactl("set-sink-input-mute", index, "0")
        try await server.pactl("set-sink-input-volume", index, "70%")
        try await wait(for: "the report of the change") {
            events.all.last == .volumeChanged(percent: 70, isMuted: false)
        }
        // The echo of our own setting is never reported.
        #expect(!events.all.contains(.volumeChanged(percent: 40, isMuted: true)))
    }

    @Test func `the server shows who plays what`() async throws {
        output.setTitle(SoundTitle("first", by: "Edda"))
        try await output.open(.cd, reader: reader)
        var list = try await server.pactl("list", "sink-inputs")
        for text in [
            #"application.name = "Reprise""#, #"media.role = "music""#, #"media.name = "first – Edda""#,
            #"media.title = "first""#, #"media.artist = "Edda""#,
            #"media.icon_name = "multimedia-audio-player""#, "Corked: yes",
        ] {
            #expect(list.contains(text))
        }
        output.setTitle(SoundTitle("second"))
        try await wait(for: "the new title") {
            list = try await server.pactl("list", "sink-inputs")
            return list.contains(#"media.name = "second""#)
        }
        #expect(list.contains(#"media.title = "second""#) && !list.contains("Edda"))
        #expect(list.contains(#"media.role = "music""#) && list.contains(#"application.name = "Reprise""#))
    }

    @Test(
        arguments: [
            (SampleFormat.s16, 1, "s16le 1ch 48000", "mono"),
            (.s32, 2, "s32le 2ch 48000", "front-left,front-right"),
            (.f32, 6, "float32le 6ch 48000", "front-left,front-right,front-center,lfe,rear-left,rear-"),
            (.f32, 7, "float32le 7ch 48000", "front-left,front-right,front-center,lfe,rear-center,side-"),
        ]
    )
    func `the server gets samples of every format, and each channel for its loudspeaker`(
        sample: SampleFormat,
        channelCount: Int,
        specification: String,
        map: String
    ) async throws {
        let format = AudioFormat(sampleRate: 48_000, channelCount: channelCount, sample: sample)
        let reader = FakeReader(format)
        reader.append([UInt8](repeating: 0, count: 9_600 * format.bytesPerFrame))
        reader.finish()
        try await output.open(format, reader: reader)
        let list = try await server.pactl("list", "sink-inputs")
        #expect(list.contains("Sample Specification: \(specification)"))
        #expect(list.contains("Channel Map: \(map)"))
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == 9_600)
    }

    @Test func `close leaves no stream behind at the server`() async throws {
        try await play(frames: 100_000)
        #expect(try await !server.pactl("list", "short", "sink-inputs").isEmpty)
        await output.close()
        try await wait(for: "no stream") { try await server.pactl("list", "short", "sink-inputs").isEmpty }
    }
}

/// The code of the failure of `body`.
private func code(of body: () async throws -> Void) async throws -> MediaError.Code? {
    do { try await body() } catch let error as MediaError { return error.code }
    return nil
}
