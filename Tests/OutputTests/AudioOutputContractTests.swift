import Media
import Output
import TestSupport
import Testing

/// The contract of `AudioOutput`, which every implementation passes.
@Suite(.serialized) struct AudioOutputContractTests {
    @Test(arguments: Rig.Kind.allCases)
    func `all frames are taken and drain returns after the last`(kind: Rig.Kind) async throws {
        let rig = try await Rig.playing(kind, frames: kind.frames, isFinished: true)
        try await rig.running { await rig.output.drain() }
        #expect(rig.reader.takenFrames == kind.frames && rig.output.heardFrames == kind.frames)
        #expect(rig.events.all.isEmpty)
    }

    @Test(arguments: Rig.Kind.files, 0..<4 as Range<UInt64>)
    func `a file receives each frame once and in order`(kind: Rig.Kind, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let rig = try await Rig.playing(kind, frames: 0)
        var count = 0
        for _ in 0..<40 {
            let next = Int.random(in: 0...9_000, using: &random)
            rig.reader.append(AudioFormat.cd.numbered(next, from: count))
            count += next
            rig.output.framesAvailable()
            if Int.random(in: 0..<5, using: &random) == 0 {
                await rig.output.pause()
                try await rig.output.start()
            }
        }
        rig.reader.finish()
        rig.output.framesAvailable()
        await rig.output.drain()
        await rig.output.close()
        #expect(rig.samples == AudioFormat.cd.numbered(count))
    }

    @Test(arguments: Rig.Kind.allCases)
    func `after open and after pause nothing is taken until start`(kind: Rig.Kind) async throws {
        let rig = try await Rig(kind)
        try await rig.open(frames: 500_000)
        rig.output.framesAvailable()
        rig.clock.advance(by: .seconds(10))
        await rig.output.pause()
        #expect(rig.reader.readCount == 0)

        try await rig.output.start()
        #expect(rig.reader.takenFrames > 0)
        await rig.output.pause()
        let looks = rig.reader.readCount
        let heard = rig.output.heardFrames
        rig.output.framesAvailable()
        rig.clock.advance(by: .seconds(10))
        await rig.output.pause()
        #expect(rig.reader.readCount == looks && rig.output.heardFrames == heard)
        #expect(rig.clock.sleeperCount == 0)
    }

    @Test(arguments: Rig.Kind.allCases)
    func `a flush counts the frames that were taken as heard`(kind: Rig.Kind) async throws {
        let rig = try await Rig.playing(kind, frames: 500_000)
        await rig.output.pause()
        await rig.output.flush()
        #expect(rig.output.heardFrames == rig.reader.takenFrames)
        rig.reader.dropRest()
        rig.reader.append(AudioFormat.cd.numbered(10))
        rig.reader.finish()
        try await rig.output.start()
        try await rig.running { await rig.output.drain() }
        #expect(rig.output.heardFrames == rig.reader.takenFrames)
    }

    @Test(arguments: Rig.Kind.allCases)
    func `a drain returns at once while paused, and when its task is cancelled`(kind: Rig.Kind) async throws {
        let rig = try await Rig(kind)
        try await rig.open(frames: 1_000)
        await rig.output.drain()
        try await rig.output.start()
        let drain = Task { await rig.output.drain() }
        drain.cancel()
        await drain.value
    }

    @Test(arguments: Rig.Kind.allCases)
    func `the heard position never goes back, and open restarts it`(kind: Rig.Kind) async throws {
        let rig = try await Rig.playing(kind, frames: kind.frames, isFinished: true)
        let heard = try await rig.running {
            let drain = Task { await rig.output.drain() }
            var heard: [FrameCount] = []
            try await wait(for: "the end") {
                heard.append(rig.output.heardFrames)
                return heard.last == FrameCount(kind.frames)
            }
            await drain.value
            return heard
        }
        #expect(heard == heard.sorted())
        if kind == .pulse { #expect(Set(heard).count > 2, "the position moves in steps, not at once") }
        await rig.output.pause()
        try await rig.output.open(.cd, reader: FakeReader())
        #expect(rig.output.heardFrames == 0)
    }

    @Test(arguments: Rig.Kind.allCases)
    func `only a real-time device reports an underrun, and only once`(kind: Rig.Kind) async throws {
        let rig = try await Rig.playing(kind, frames: 22_050)
        func advance(periods: Int) async throws {
            for _ in 0..<periods where kind == .null {
                try await wait(for: "the device to sleep") { rig.clock.sleeperCount == 1 }
                rig.clock.advance(by: NullOutput.period)
            }
        }
        try await advance(periods: 6)
        try await wait(for: "the frames to be heard") { rig.output.heardFrames == 22_050 }
        if rig.output.isRealTime { try await wait(for: "the underrun") { rig.events.underruns > 0 } }
        // The reader stays empty, and the output reads again.
        rig.output.framesAvailable()
        try await advance(periods: 3)
        await rig.output.pause()
        #expect(rig.events.all == (rig.output.isRealTime ? [.underrun] : []))
    }

    @Test(arguments: Rig.Kind.allCases)
    func `close works in every state and twice, and later calls do nothing`(kind: Rig.Kind) async throws {
        for steps in 0...4 {
            let rig = try await Rig(kind)
            rig.reader.append(AudioFormat.cd.numbered(100_000))
            if steps > 0 { try await rig.output.connect() }
            if steps > 1 { try await rig.output.open(.cd, reader: rig.reader) }
            if steps > 2 { try await rig.output.start() }
            if steps > 3 { await rig.output.pause() }
            await rig.output.close()
            await rig.output.close()
            rig.output.framesAvailable()
            rig.output.setVolume(50, isMuted: true)
            rig.output.setTitle(SoundTitle("late"))
            await rig.output.drain()
            await rig.output.pause()
        }
    }
}
