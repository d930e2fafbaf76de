import Foundation
import Media
import Output
import TestSupport
import Testing

/// `PulseOutput` against a server of the test's own.
@Suite(.serialized)
struct PulseOutputTests {
    private let fixture: PulseFixture
    private let output: PulseOutput
    private let reader = FakeReader()
    private let events = EventLog()
    /// The time that requests may take; it stands still until a test moves it.
    private let clock = TestClock()

    init() async throws {
        fixture = try await PulseFixture()
        output = PulseOutput(sink: "test", server: fixture.address, clock: clock)
        events.listen(to: output)
        try await output.connect()
    }

    @Test func `what is recorded is what was given, to its last frame`() async throws {
        try await fixture.record()
        let music = AudioFormat.cd.numbered(60_000)
        try await output.open(.cd, reader: reader)
        try await output.start()
        for part in 0..<10 {
            reader.append(Array(music[part * 24_000..<(part + 1) * 24_000]))
            output.framesAvailable()
        }
        reader.finish()
        output.framesAvailable()
        await output.drain()
        #expect(output.heardFrames == 60_000)
        try await wait(for: "the recording's end") { fixture.recorded.last == frames(music).last }
        let recorded = fixture.recorded
        #expect(recorded == frames(music).suffix(recorded.count))
        #expect(60_000 - recorded.count < PulseFixture.longestGapAtStart)
        await output.close()
        #expect(events.all.isEmpty)
    }

    @Test func `after a pause the music goes on where it stood`() async throws {
        try await fixture.record()
        let music = AudioFormat.cd.numbered(40_000)
        reader.append(music)
        reader.finish()
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 8_000 }
        await output.pause()
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == 40_000)
        try await wait(for: "the recording's end") { fixture.recorded.last == frames(music).last }
        #expect(Set(frames(music)).subtracting(fixture.recorded).count < 2 * PulseFixture.longestGapAtStart)
        await output.close()
    }

    @Test func `a flush drops the server's buffer, and what follows is heard next`() async throws {
        try await fixture.record()
        reader.append(AudioFormat.cd.numbered(44_100 * 5))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        await output.pause()
        let heard = output.heardFrames
        await output.flush()
        #expect(output.heardFrames == reader.takenFrames)
        reader.dropRest()
        let behind = AudioFormat.cd.numbered(10_000, from: 1_000_000)
        reader.append(behind)
        reader.finish()
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == reader.takenFrames)
        try await wait(for: "the recording's end") { fixture.recorded.last == frames(behind).last }
        let recorded = fixture.recorded
        let new = Set(frames(behind))
        let first = try #require(recorded.firstIndex { new.contains($0) })
        #expect(Array(recorded[first...]) == frames(behind).suffix(recorded.count - first))
        #expect(10_000 - (recorded.count - first) < PulseFixture.longestGapAtStart)
        // Frames that were taken but not heard are not in the recording.
        #expect(first < reader.takenFrames - 10_000)
        #expect(abs(first - Int(heard)) < 2 * PulseFixture.longestGapAtStart)
        await output.close()
    }

    @Test func `running dry is reported once, and frames that come then are all heard`() async throws {
        try await fixture.record()
        reader.append(AudioFormat.cd.numbered(5_000))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "the underrun") { !events.all.isEmpty }
        reader.append(AudioFormat.cd.numbered(5_000, from: 5_000))
        reader.finish()
        output.framesAvailable()
        await output.drain()
        #expect(events.all == [.underrun])
        let given = frames(AudioFormat.cd.numbered(10_000))
        try await wait(for: "the recording's end") { fixture.recorded.last == given.last }
        let missing = Set(given).subtracting(fixture.recorded)
        #expect(missing.count < 2 * PulseFixture.longestGapAtStart && missing.count < 5_000)
        await output.close()
    }

    @Test func `a server that dies is a loss, ends who waits, and leaves a usable output`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        let drain = Task { [output] in await output.drain() }
        fixture.stop()
        await drain.value
        try await wait(for: "the loss") { events.loss != nil }
        #expect(events.all.count == 1)
        #expect(events.loss?.code == .audioLost)
        let heard = output.heardFrames
        #expect(heard > 4_410 && heard <= reader.takenFrames)
        output.framesAvailable()
        output.setVolume(30, isMuted: false)
        await output.pause()
        await output.flush()
        await #expect(throws: MediaError.self) { try await output.start() }
        await #expect(throws: MediaError.self) { try await output.open(.cd, reader: reader) }
        await #expect(throws: MediaError.self) { try await output.connect() }

        await output.close()
    }

    @Test func `a server that hangs is a loss reported once, and ends who waits`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        let drain = Task { [output] in await output.drain() }
        fixture.freeze()
        let pause = Task { [output] in await output.pause() }
        try await wait(for: "the request") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        await pause.value
        await drain.value
        #expect(events.all.count == 1)
        #expect(events.loss?.code == .audioLost)
        #expect(events.loss?.description.contains("does not answer") == true)
        await output.flush()
        #expect(try await code(of: { try await output.start() }) == .audioLost)
        #expect(try await code(of: { try await output.open(.cd, reader: reader) }) == .audioLost)
        let connecting = Task { [output] in try await code(of: { try await output.connect() }) }
        try await wait(for: "the new request") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        #expect(try await connecting.value == .audioServer)
        await output.close()
        #expect(events.all.count == 1)
    }

    @Test func `a server that hangs while a stream is opened is a loss`() async throws {
        fixture.freeze()
        let opening = Task { [output, reader] in
            try await code(of: { try await output.open(.cd, reader: reader) })
        }
        try await wait(for: "the request") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        #expect(try await opening.value == .audioLost)
        #expect(events.loss?.code == .audioLost)
        await output.close()
    }

    @Test func `a stream that the server ends alone is a loss too, and can be opened again`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try fixture.pactl("unload-module", "module-null-sink")
        try await wait(for: "the loss") { events.loss != nil }
        try fixture.pactl("load-module", "module-null-sink", "sink_name=test")
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 0 }
        await output.close()
    }

    @Test func `a suspended sink stands still with its time, and goes on where it stood`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        try fixture.pactl("suspend-sink", "test", "1")
        try await wait(for: "the time to stand") {
            let heard = output.heardFrames
            try fixture.pactl("info")
            return output.heardFrames == heard
        }
        let (heard, taken) = (output.heardFrames, reader.takenFrames)
        #expect(heard < taken)
        for _ in 0..<5 { try fixture.pactl("info") }
        #expect(output.heardFrames == heard && reader.takenFrames == taken)
        try fixture.pactl("suspend-sink", "test", "0")
        try await wait(for: "the music to go on") { output.heardFrames > heard + 4_410 }
        #expect(output.heardFrames <= reader.takenFrames)
        #expect(events.loss == nil)
        await output.close()
    }

    @Test func `a stream that is moved to another sink plays on there`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        try fixture.pactl("load-module", "module-null-sink", "sink_name=other", "rate=48000")
        let index = try fixture.pactl("list", "short", "sink-inputs").prefix { $0.isNumber }
        let heard = output.heardFrames
        try fixture.pactl("move-sink-input", String(index), "other")
        try await wait(for: "the music to go on") { output.heardFrames > heard + 22_050 }
        #expect(output.heardFrames <= reader.takenFrames)
        // The one it came from goes: nothing happens to it.
        try fixture.pactl(
            "unload-module",
            try fixture.pactl("list", "short", "modules").moduleNumber(of: "sink_name=test")
        )
        let later = output.heardFrames
        try await wait(for: "the music to go on") { output.heardFrames > later + 22_050 }
        #expect(events.loss == nil)
        await output.close()
    }

    @Test func `a call asks for a pause, and its end for the music`() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try fixture.pactl("load-module", "module-role-cork")
        try await output.open(.cd, reader: reader)
        try await output.start()
        try await wait(for: "music to be heard") { output.heardFrames > 4_410 }
        let call = try fixture.call()
        // The server also mutes the stream, which is reported like any change at the server.
        try await wait(for: "the wish for a pause") { events.all.contains(.pauseRequested) }
        #expect(!events.all.contains(.resumeRequested))
        // Only a stream that has paused is notified at the end of the call.
        await output.pause()
        call.kill()
        try await wait(for: "the wish to go on") { events.all.contains(.resumeRequested) }
        #expect(events.all.filter { $0 == .pauseRequested }.count == 1)
        await output.close()
    }

    @Test func `an unknown sink is refused by name`() async throws {
        let other = PulseOutput(sink: "no-such-sink", server: fixture.address)
        try await other.connect()
        let error = await #expect(throws: MediaError.self) { try await other.open(.cd, reader: reader) }
        #expect(error?.code == .sinkFailed)
        #expect(error?.description.contains("no-such-sink") == true)
        await other.close()
        await output.close()
    }

    @Test func `the volume is the stream's own at the server, in both directions`() async throws {
        try await output.open(.cd, reader: reader)
        output.setVolume(40, isMuted: true)
        try await wait(for: "the server to have it") {
            let list = try fixture.pactl("list", "sink-inputs")
            return list.contains(" 40% ") && list.contains("Mute: yes")
        }
        let index = try fixture.pactl("list", "short", "sink-inputs").prefix { $0.isNumber }
        try fixture.pactl("set-sink-input-mute", String(index), "0")
        try fixture.pactl("set-sink-input-volume", String(index), "70%")
        try await wait(for: "the change to be told") {
            events.all.last == .volumeChanged(percent: 70, isMuted: false)
        }
        // The echo of our own setting is never reported.
        #expect(!events.all.contains(.volumeChanged(percent: 40, isMuted: true)))
        await output.close()
    }

    @Test func `the server shows who plays what`() async throws {
        output.setTitle("first")
        try await output.open(.cd, reader: reader)
        var list = try fixture.pactl("list", "sink-inputs")
        for text in [#"application.name = "Reprise""#, #"media.role = "music""#, #"media.name = "first""#] {
            #expect(list.contains(text))
        }
        #expect(list.contains("Corked: yes"))
        output.setTitle("second")
        try await wait(for: "the new title") {
            list = try fixture.pactl("list", "sink-inputs")
            return list.contains(#"media.name = "second""#)
        }
        await output.close()
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
        let list = try fixture.pactl("list", "sink-inputs")
        #expect(list.contains("Sample Specification: \(specification)"))
        #expect(list.contains("Channel Map: \(map)"))
        try await output.start()
        await output.drain()
        #expect(output.heardFrames == 9_600)
        await output.close()
    }

    @Test func `close leaves no stream behind at the server`() async throws {
        reader.append(AudioFormat.cd.numbered(100_000))
        try await output.open(.cd, reader: reader)
        try await output.start()
        #expect(try !fixture.pactl("list", "short", "sink-inputs").isEmpty)
        await output.close()
        try await wait(for: "no stream") { try fixture.pactl("list", "short", "sink-inputs").isEmpty }
    }
}

extension String {
    /// The number of the module that this list of `pactl` shows with `text`.
    fileprivate func moduleNumber(of text: String) throws -> String {
        String(try #require(split(separator: "\n").first { $0.contains(text) }).prefix { $0.isNumber })
    }
}

/// The code of the failure of `body`.
private func code(of body: () async throws -> Void) async throws -> MediaError.Code? {
    do { try await body() } catch let error as MediaError { return error.code }
    return nil
}

struct PulseConnectionTests {
    @Test func `without a server connect fails at once and says what to do`() async throws {
        let folder = try Folder()
        let output = PulseOutput(sink: nil, server: "unix:" + folder.path("nobody"))
        let error = await #expect(throws: MediaError.self) { try await output.connect() }
        #expect(error?.code == .audioServer)
        #expect(error?.description.contains("--sink null") == true)
        #expect(error?.description.contains("refused") == true)
        await output.close()
    }

    @Test func `a server that never answers is given up when the task is cancelled`() async throws {
        let folder = try Folder()
        let silent = try SilentSocket(path: folder.path("silent"))
        let output = PulseOutput(sink: nil, server: "unix:" + folder.path("silent"))
        let connecting = Task { try await output.connect() }
        try await wait(for: "the connection") { silent.isReached }
        connecting.cancel()
        await #expect(throws: CancellationError.self) { try await connecting.value }
        await output.close()
    }

    @Test func `a server that never answers is given up in time`() async throws {
        let folder = try Folder()
        let silent = try SilentSocket(path: folder.path("silent"))
        let clock = TestClock()
        let output = PulseOutput(sink: nil, server: "unix:" + folder.path("silent"), clock: clock)
        let connecting = Task { try await output.connect() }
        try await wait(for: "the connection") { silent.isReached && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: MediaError.self) { try await connecting.value }
        #expect(error?.code == .audioServer)
        #expect(error?.description.contains("does not answer") == true)
        await output.close()
    }
}

/// A Unix socket that accepts connections into its backlog and says nothing.
final class SilentSocket {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(descriptor, 5) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// `true` if a connection waits in the backlog.
    var isReached: Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 1
    }
}
