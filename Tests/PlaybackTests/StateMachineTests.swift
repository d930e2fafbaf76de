import Media
import Testing

@testable import Playback

private let format = StreamInfo.music().format

@Suite struct AnnouncerTests {
    private let lost = MediaError(.cut, "song", "the connection broke; check the cable")
    private let id: PassID = 1

    @Test func `the newest 100 messages stay, and no number is used twice`() {
        var announcer = Announcer()
        for number in 1...130 { announcer.note(SafeText("\(number)")) }
        #expect(announcer.messages.map(\.number) == Array(31...130))
        #expect(announcer.messages.last?.text == "130")
    }

    @Test func `each attempt that a load waits for is reported once`() {
        var announcer = Announcer()
        announcer.advance(to: .seconds(10))
        let waits = [(1, 12), (1, 12), (2, 16), (2, 17)].map { attempt, time in
            LoadWait(error: lost, attempt: attempt, mostAttempts: 10, retryAt: .seconds(time))
        }
        let reported = waits.flatMap { announcer.loadWaits(id, $0) }
        let texts = ["2 s (2 of 10)", "6 s (3 of 10)", "7 s (3 of 10)"]
        let messages = texts.map { SafeText("song: the connection broke · retry in \($0)") }
        #expect(reported == messages.map { .emit(.remark(code: "reconnecting", message: $0)) })
        let other = announcer.loadWaits(2, waits[3])
        #expect(other.count == 1, "another pass")
    }

    @Test func `a position is due a second after the last one`() {
        var announcer = Announcer()
        announcer.advance(to: .seconds(5))
        announcer.positionReported()
        announcer.advance(to: .milliseconds(5_750))
        #expect(announcer.timeUntilPosition == .milliseconds(250))
    }

    @Test(arguments: [(true, 200), (false, 180)])
    func `the length in a playlist gives way to an exact one only`(isExact: Bool, seconds: Int) {
        var announcer = Announcer()
        let track = Track(id: Track.ID(1), location: .file("/a.mp3"), duration: .seconds(180))
        var pass = Pass(id: id, track: track, start: .zero)
        pass.info = .music(seconds: 200)
        pass.info?.isDurationExact = isExact
        announcer.learn(from: pass)
        #expect(announcer.facts[track.id]?.duration == .seconds(seconds))
    }
}

@Suite struct OutputStateTests {
    private func pass(_ number: Int) -> Pass {
        Pass(id: PassID(value: number), track: numbered([number])[0], start: .zero)
    }

    @Test(arguments: [(.exactly, 1), (.rounding, 1), (.never, 2)] as [(TrackJoining, Int)])
    func `a stream is opened for a new format, or for each track if the sink wants that`(
        joining: TrackJoining,
        openings: Int
    ) {
        var output = OutputState(joining: joining)
        let effects = [pass(1), pass(1), pass(2)].flatMap { output.open(format, for: $0, expectsWide: false) }
        #expect(effects == Array(repeating: .openOutput(format), count: openings))
        #expect(output.canContinue(in: format) == (joining != .never))
        let mono = AudioFormat(sampleRate: 1_000, channelCount: 1)
        #expect(output.open(mono, for: pass(2), expectsWide: false) == [.openOutput(mono)])
    }

    @Test func `a stream stays open for music whose samples stay exact in it`() {
        var output = OutputState(joining: .rounding)
        let samples: [SampleFormat] = [.s16, .s32, .f32]
        let formats = samples.map { AudioFormat(sampleRate: 1_000, channelCount: 2, sample: $0) }
        var opened: [PlayerEffect] = []
        for number in [0, 1, 0, 2, 0, 1] {
            opened += output.open(formats[number], for: pass(1), expectsWide: false)
        }
        #expect(opened == [0, 1, 2, 1].map { .openOutput(formats[$0]) })
    }

    @Test func `a stream of 16 bits is replaced if wide samples are expected, and a wide one stays`() {
        let samples: [SampleFormat] = [.s16, .s32, .f32]
        for sample in samples {
            var output = OutputState(joining: .rounding)
            let open = AudioFormat(sampleRate: 1_000, channelCount: 2, sample: sample)
            _ = output.open(open, for: pass(1), expectsWide: false)
            let wide = AudioFormat(sampleRate: 1_000, channelCount: 2, sample: .s32)
            let effects = output.open(format, for: pass(2), expectsWide: true)
            #expect(effects == (sample == .s16 ? [.openOutput(wide)] : []))
        }
    }

    @Test func `only a sink that would round gets a wider stream than its music needs`() {
        let wide = AudioFormat(sampleRate: 1_000, channelCount: 2, sample: .s32)
        for joining in [TrackJoining.never, .exactly, .rounding] {
            var output = OutputState(joining: joining)
            let expected = joining == .rounding ? wide : format
            #expect(output.open(format, for: pass(1), expectsWide: true) == [.openOutput(expected)])
        }
    }

    @Test func `only a running sink is paused, and it can start again at once`() {
        var output = OutputState(joining: .exactly)
        #expect(output.pause() == [])
        #expect(!output.isPrimed)
        output.started()
        #expect(output.pause() == [.pauseOutput])
        #expect(output.isPrimed && !output.isRunning)
    }

    @Test func `the end of a stream drains a running sink, and starts a stopped one unless paused`() {
        var running = OutputState(joining: .exactly)
        running.started()
        #expect(running.finish(isPaused: false) == [.finishRing, .drain])
        for isPaused in [true, false] {
            var output = OutputState(joining: .exactly)
            let start: [PlayerEffect] = isPaused ? [] : [.startOutput]
            #expect(output.finish(isPaused: isPaused) == [.finishRing] + start)
            #expect(output.isFinishing && output.isPrimed)
        }
    }

    @Test func `silence empties an open stream, which stays open`() {
        var output = OutputState(joining: .exactly)
        #expect(output.silence() == [])
        _ = output.open(format, for: pass(1), expectsWide: false)
        output.started()
        #expect(output.silence() == [.pauseOutput, .flushOutput])
        #expect(output.format == format && !output.isRunning)
    }

    @Test func `a lost server is reported once and searched for until sound is heard again`() {
        let error = MediaError(.audioLost, "PulseAudio", "is gone")
        var output = OutputState(joining: .exactly)
        #expect(output.reconnect(atOnce: true) == [], "no server was lost")
        #expect([output.lost(because: error), output.lost(because: error)] == [true, false])
        #expect(output.isLost && output.isRecovering)
        #expect(output.reconnect(atOnce: true) == [.reconnectOutput(after: .zero, attempt: 1)])
        #expect(output.ended(1, isReached: true) == true)
        #expect(!output.isLost && output.isRecovering)
        output.started()
        #expect(!output.isRecovering)
        #expect(output.lost(because: error) == true)
    }
}

@Suite struct PassLaneTests {
    private let tracks = numbered(1...3)

    /// A lane whose only pass writes from the sink's frame 100 on and began at four seconds.
    private func writing() -> (lane: PassLane, id: PassID) {
        var lane = PassLane()
        let id = lane.begin(tracks[0], at: .seconds(4)).id
        lane.update(id) { pass in
            pass.stage = .ready
            pass.info = .music(seconds: 60)
            pass.landing = SeekLanding(frame: 4_000, isExact: true)
        }
        lane.granted(id, at: 100)
        lane.update(id) { $0.stage = .writing }
        lane.heard(100)
        return (lane, id)
    }

    @Test func `the position is the one asked for until frames are heard`() {
        var lane = PassLane()
        _ = lane.begin(tracks[0], at: .seconds(30))
        #expect(lane.position == .seconds(30))
        lane = writing().lane
        lane.heard(1_100)
        #expect(lane.position == .seconds(5) && lane.heardFrames == 1_000)
    }

    @Test func `a pass after a seek counts the frames heard before`() throws {
        var lane = writing().lane
        lane.heard(600)
        let old = try #require(lane.current)
        let pass = lane.successor(of: old, at: .seconds(20), answersSeek: true)
        #expect(lane.cancelAll(reusing: old.id) == [.cancelPass(old.id, keepsResource: true)])
        lane.streamDropped()
        lane.begin(pass)
        #expect(lane.heardFrames == 500 && lane.position == .seconds(20) && pass.playing == old.playing)
    }

    @Test func `one pass behind the current one has low priority until all is written`() {
        var (lane, id) = writing()
        #expect(lane.prepared == nil && lane.lowPriority == nil)
        let next = lane.prepare(tracks[1], at: .zero)
        #expect(lane.prepared?.id == next.id && lane.lowPriority == next.id && lane.lastGranted?.id == id)
        var skipped = lane
        skipped.begin(next)
        #expect(skipped.lowPriority == nil)
        lane.update(id) { $0.stage = .written }
        #expect(lane.prepared?.id == next.id && lane.lowPriority == nil)
        lane.update(next.id) { $0.stage = .writing }
        #expect(lane.prepared == nil && lane.lastGranted?.id == next.id)
    }

    @Test func `a live title is taken when its first frame is heard`() {
        var (lane, id) = writing()
        lane.heard(200)
        #expect(lane.titleReached(id, "later", after: 300) == false)
        #expect(lane.framesUntilChange == 200)
        lane.heard(400)
        #expect(lane.showHeardTitle() == false)
        lane.heard(401)
        #expect(lane.showHeardTitle() == true)
        #expect(lane.current?.streamTitle == "later")
        #expect(lane.showHeardTitle() == false)
    }

    @Test func `the last ten titles that were heard stay, also when the stream begins again`() throws {
        var (lane, id) = writing()
        for number in 1...12 { _ = lane.titleReached(id, SafeText("\(number)"), after: 0) }
        _ = lane.titleReached(id, "12", after: 0)
        let current = try #require(lane.current)
        #expect(current.earlierTitles == (2...11).map { SafeText("\($0)") } && current.streamTitle == "12")
        let next = lane.successor(of: current, at: .zero, answersSeek: false)
        #expect(next.earlierTitles == current.earlierTitles)
    }

    @Test func `a correction moves the position of frames already written`() {
        var (lane, id) = writing()
        #expect(lane.landingCorrected(id, by: 250) == true)
        #expect(lane.position == .milliseconds(4_250))
        #expect(lane.landingCorrected(99, by: 1) == false)
    }

    /// Passes that begin at these frames of the stream, the first 7 s into its track.
    private func lane(_ starts: [FrameCount]) -> PassLane {
        var lane = PassLane()
        for (place, start) in starts.enumerated() {
            let id = lane.prepare(numbered([place])[0], at: .zero).id
            lane.update(id) { pass in
                pass.info = .music()
                pass.landing = SeekLanding(frame: place == 0 ? 7_000 : 0, isExact: true)
            }
            lane.granted(id, at: start)
        }
        return lane
    }

    @Test(
        arguments: [
            (100, [], 7_000), (399, [], 7_299), (400, [], 7_300), (401, [300, 0], 1), (402, [300, 0, 1], 1),
            (9_000, [300, 0, 1], 8_599),
        ] as [(FrameCount, [FrameCount], Int)]
    )
    func `a pass is over when a frame of a later one was heard, and then has all its frames`(
        heard: FrameCount,
        passed: [FrameCount],
        position: Int
    ) {
        var lane = lane([100, 400, 400, 401])
        lane.heard(heard)
        var frames: [FrameCount] = []
        while let passed = lane.framesOfPassed {
            frames.append(passed)
            _ = lane.removeFirst()
        }
        #expect(frames == passed && lane.position == .milliseconds(position))
    }
}
