import Media
import Output
import TestSupport
import Testing

struct NullOutputTests {
    private let clock = TestClock()
    private let reader = FakeReader()

    private func playing(frames: Int) async throws -> NullOutput {
        reader.append(AudioFormat.cd.numbered(frames))
        let output = NullOutput(clock: clock, latency: .milliseconds(100))
        try await output.connect()
        try await output.open(.cd, reader: reader)
        try await output.start()
        return output
    }

    private func advance(by duration: Duration) async throws {
        let readsBefore = reader.readCount
        try await wait(for: "the device to sleep") { clock.sleeperCount == 1 }
        clock.advance(by: duration)
        try await wait(for: "the device to read and sleep again") {
            reader.readCount > readsBefore && clock.sleeperCount == 1
        }
    }

    @Test func `the device fills its buffer at once, then takes the frames of the time that passed`()
        async throws
    {
        let output = try await playing(frames: 44_100 * 12)
        #expect(reader.takenFrames == 4_410 && output.heardFrames == 0)
        var seconds = Duration.zero
        for step in [Duration.milliseconds(100), .milliseconds(900), .seconds(9)] {
            try await advance(by: step)
            seconds += step
            #expect(output.heardFrames == AudioFormat.cd.frames(in: seconds))
            #expect(reader.takenFrames == output.heardFrames + 4_410)
        }
    }

    @Test func `frames taken but not heard survive a pause`() async throws {
        let output = try await playing(frames: 44_100)
        try await advance(by: .milliseconds(100))
        await output.pause()
        clock.advance(by: .seconds(5))
        #expect(output.heardFrames == 4_410)
        try await output.start()
        // The position moves with the clock between two reads.
        clock.advance(by: .milliseconds(10))
        #expect(output.heardFrames == 4_410 + 441)
    }

    @Test func `after an underrun the device continues where it stood`() async throws {
        let events = EventLog()
        let output = try await playing(frames: 4_410)
        events.listen(to: output)
        try await advance(by: .seconds(1))
        #expect(events.all == [.underrun] && output.heardFrames == 4_410)
        reader.append(AudioFormat.cd.numbered(44_100))
        try await advance(by: .milliseconds(100))
        try await advance(by: .milliseconds(100))
        #expect(output.heardFrames == 4_410 + 8_820 && events.all == [.underrun])
    }

    @Test func `a drain returns when the last frame is heard, to the frame`() async throws {
        let output = try await playing(frames: 4_500)
        reader.finish()
        let drain = Task { await output.drain() }
        try await advance(by: .milliseconds(100))
        #expect(output.heardFrames == 4_410)
        try await wait(for: "the device to sleep") { clock.sleeperCount == 1 }
        clock.advance(by: AudioFormat.cd.duration(of: 90) + .microseconds(1))
        await drain.value
        #expect(output.heardFrames == 4_500 && clock.sleeperCount == 0)
    }
}
