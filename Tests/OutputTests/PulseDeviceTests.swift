import Media
@testable import Output
import TestSupport
import Testing

/// The choice of a device, with a server that each test starts. Its sinks are `test`, the default, and
/// `other`.
@Suite(.serialized)
struct PulseDeviceTests {
    private let server: PulseServer
    private let output: PulseOutput
    private let reader = FakeReader()

    init() async throws {
        server = try await PulseServer()
        try await server.loadNullSink("other")
        try await server.pactl("set-default-sink", "test")
        output = PulseOutput(sink: nil, server: server.address, clock: TestClock())
        try await output.connect()
    }

    private func play() async throws {
        reader.append(AudioFormat.cd.numbered(44_100 * 20))
        try await output.open(.cd, reader: reader)
        try await output.start()
    }

    /// The name of the sink that plays the last of the streams.
    private func sink() async throws -> Substring? {
        let number = try await server.pactl("list", "short", "sink-inputs").split(separator: "\n").last?
            .split(separator: "\t")[1]
        return try await server.pactl("list", "short", "sinks").split(separator: "\n")
            .map { $0.split(separator: "\t") }.first { $0[0] == number }?[1]
    }

    private func expectMusic(on name: String) async throws {
        try await wait(for: "the music to be on \(name)") { try await sink() ?? "" == name }
        let heard = output.heardFrames
        try await wait(for: "music to be heard") { output.heardFrames > heard + 4_410 }
    }

    private func unload(_ name: String) async throws {
        let modules = try await server.pactl("list", "short", "modules").split(separator: "\n")
        let module = try #require(modules.first { $0.contains("sink_name=\(name)") })
        try await server.pactl("unload-module", String(module.prefix { $0.isNumber }))
    }

    @Test func `the devices are the server's sinks, and the one that plays is marked`() async throws {
        #expect(await output.devices().map(\.name) == ["test", "other"])
        #expect(await output.devices().allSatisfy { !$0.isCurrent })
        try await play()
        #expect(await output.devices().filter(\.isCurrent).map(\.name) == ["test"])
        async let first = output.devices()
        async let second = output.devices()
        let both = await [first, second]
        #expect(both[0].count == 2 && both[0] == both[1])
        await output.close()
        #expect(await output.devices().isEmpty)
    }

    @Test func `a server that dies or hangs has no devices, and who asks does not wait for ever`()
        async throws
    {
        let clock = TestClock()
        let other = PulseOutput(sink: nil, server: server.address, clock: clock)
        try await other.connect()
        server.freeze()
        let asking = Task { await other.devices() }
        try await wait(for: "the request") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        #expect(await asking.value.isEmpty)
        let waiting = Task { await output.devices() }
        try await server.crash()
        #expect(await waiting.value.isEmpty)
    }

    @Test func `music moves to a chosen device while it plays, and goes on there`() async throws {
        let recordings = try [server.record(of: "test"), server.record(of: "other")]
        try await wait(for: "the recordings to run") { recordings.allSatisfy { $0.frameCount > 0 } }
        try await play()
        try await expectMusic(on: "test")
        output.setDevice("other")
        try await expectMusic(on: "other")
        await output.pause()
        let all = PulseRecording.soundingFrames(of: AudioFormat.cd.numbered(44_100 * 20))
        let places = Dictionary(all.enumerated().map { ($1, $0) }) { first, _ in first }
        let heard = recordings.map { $0.soundingFrames.compactMap { places[$0] } }
        let last = try #require(heard[0].max())
        let first = try #require(heard[1].min())
        // What the first sink had not played yet, the second one gets again. Recordings lack the frames that
        // replace silence which a sink has rendered ahead.
        #expect(abs(last - first) < 3_000, "\(last) \(first)")
    }

    @Test func `without a choice the music follows the server's default`() async throws {
        try await play()
        try await expectMusic(on: "test")
        try await server.pactl("set-default-sink", "other")
        try await expectMusic(on: "other")
        output.setDevice("test")
        try await expectMusic(on: "test")
        output.setDevice(nil)
        try await expectMusic(on: "other")
        try await server.pactl("set-default-sink", "test")
        try await expectMusic(on: "test")
    }

    @Test func `a chosen device stays when another becomes the default`() async throws {
        output.setDevice("test")
        try await play()
        try await server.pactl("set-default-sink", "other")
        // The server moves the stream away at first.
        try await wait(for: "the device to be its own choice") {
            try await server.pactl("get-default-sink").hasPrefix("other")
        }
        try await expectMusic(on: "test")
        output.setDevice("other")
        try await expectMusic(on: "other")
    }

    @Test func `later streams begin on the chosen device, also those of a new connection`() async throws {
        output.setDevice("other")
        try await play()
        #expect(try await sink() == "other")
        await output.pause()
        try await output.open(AudioFormat(sampleRate: 48_000, channelCount: 2), reader: FakeReader())
        #expect(try await sink() == "other")
        try await output.connect()
        try await output.open(.cd, reader: reader)
        #expect(try await sink() == "other")
    }

    @Test func `a device that is not there is used once it comes, and each time it comes back`() async throws
    {
        output.setDevice("late")
        try await play()
        try await expectMusic(on: "test")
        for _ in 0..<2 {
            try await server.loadNullSink("late")
            try await expectMusic(on: "late")
            try await unload("late")
            try await expectMusic(on: "test")
        }
    }

    @Test func `a sink that must be there can be left for another, and need not come back then`() async throws
    {
        let other = PulseOutput(sink: "other", server: server.address, clock: TestClock())
        try await other.connect()
        other.setDevice("other")
        try await unload("other")
        let error = await #expect(throws: MediaError.self) { try await other.open(.cd, reader: reader) }
        #expect(error?.code == .sinkFailed && error?.description.contains("other") == true)
        other.setDevice(nil)
        try await other.open(.cd, reader: reader)
        #expect(try await sink() == "test")
        await other.close()
    }
}
