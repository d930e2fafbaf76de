import Media
import TestSupport
import Testing

@testable import Playback

/// Music that begins while the rest of a long list is still being read.
@Suite struct LongLaunchTests {
    private let all = (1...6).map { FakeMusic(number: $0, frames: 1).track }
    private var first: [Track] { Array(all.prefix(3)) }
    private let format = AudioFormat(sampleRate: 1_000, channelCount: 2)
    private let broken = MediaError(.notAudio, "x", "is no music")

    private func launched(_ problems: [MediaError] = [], start: Int? = nil) -> PlayerInput {
        .launched(tracks: all, problems: problems, start: start, position: .zero)
    }

    /// The first three of six tracks are there, and one of them has begun.
    private func begun(
        start: Int? = nil,
        exitsAtEnd: Bool = true,
        _ change: (inout PlayerState) -> Void = { _ in }
    ) -> PlayerState {
        var state = PlayerState(exitsAtEnd: exitsAtEnd, seed: 1)
        change(&state)
        _ = tell(.begun(tracks: first, start: start, position: .zero), &state)
        return state
    }

    private func tell(_ input: PlayerInput, _ state: inout PlayerState) -> [PlayerEffect] {
        state.handle(input, heard: 0, now: .zero)
    }

    /// Lets the current track sound.
    private func sound(_ state: inout PlayerState) {
        guard let id = state.currentPass else { return }
        var info = StreamInfo(format: format, bytesPerSecond: 4_000)
        info.duration = .seconds(10)
        let landing = SeekLanding(frame: 0, isExact: true)
        for input in [
            .passReady(id, info, landing, isSeekable: true), .passGranted(id, start: 0), .passPrimed(id),
            .outputStarted,
        ] as [PlayerInput] {
            _ = tell(input, &state)
        }
    }

    private func started(_ effects: [PlayerEffect]) -> [Int] {
        effects.compactMap { effect in
            guard case .startPass(_, let track, _, _, _) = effect else { return nil }
            return Int(track.id.value)
        }
    }

    private func events(_ effects: [PlayerEffect]) -> [PlayerEvent] {
        effects.compactMap { if case .emit(let event) = $0 { event } else { nil } }
    }

    // MARK: Beginning

    @Test(arguments: [(nil, 1), (1, 1), (3, 3)] as [(Int?, Int)])
    func `the first song begins with the first tracks, and the rest joins as if it had been there`(
        start: Int?,
        number: Int
    ) {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let effects = tell(.begun(tracks: first, start: start, position: .seconds(4)), &state)
        #expect(started(effects) == [number])
        #expect(state.position == .seconds(4))
        #expect(!events(effects).contains { if case .loaded = $0 { true } else { false } })
        #expect(state.queue.tracks == first && state.queue.isIncomplete)
        let revision = state.queue.revision
        let rest = tell(launched([broken], start: start), &state)
        #expect(events(rest) == [.notice(code: "not-audio", message: broken.safeText), .loaded(tracks: 6)])
        #expect(started(rest).isEmpty)
        #expect(state.queue.tracks == all && !state.queue.isIncomplete && state.queue.revision == revision)
        #expect(state.messages.count == 1, "nobody added anything")
        let undone = events(tell(.command(.undo), &state))
        #expect(undone == [.notice(code: "bad-command", message: "there is nothing to undo")])
    }

    @Test(arguments: [false, true], [nil, 4, 7] as [Int?])
    func `where the order or the start needs all tracks they are waited for`(shuffles: Bool, start: Int?) {
        guard shuffles || start != nil else { return }
        var state = PlayerState(exitsAtEnd: true, isShuffled: shuffles, seed: 1)
        var model = state
        #expect(tell(.begun(tracks: first, start: start, position: .zero), &state).isEmpty)
        #expect(state.queue.tracks.isEmpty)
        #expect(tell(launched(start: start), &state) == tell(launched(start: start), &model))
        #expect(state.queue.current == model.queue.current && state.queue.order == model.queue.order)
    }

    @Test func `who asked for something else before is not played the first song first`() {
        for (command, isBegun) in [
            (.jump(4), false), (.shuffleNow, false), (.sort(.title), false), (.jump(3), true), (.pause, true),
        ] as [(PlayerCommand, Bool)] {
            let state = begun { state in _ = state.handle(.command(command), heard: 0, now: .zero) }
            #expect(state.queue.tracks.isEmpty != isBegun, "\(command)")
        }
    }

    // MARK: The end of what is known

    @Test(arguments: [RepeatMode.off, .all], [true, false])
    func `the queue goes on behind the first tracks, also where these failed`(mode: RepeatMode, fails: Bool) {
        var state = begun(start: 3) { $0.queue.repeatMode = mode }
        guard let id = state.currentPass else { return }
        if fails {
            _ = tell(.passFailed(id, broken, frames: 0), &state)
        } else {
            sound(&state)
            _ = state.handle(.passWritten(id, frames: 10), heard: 5, now: .zero)
            _ = state.handle(.drained, heard: 10, now: .zero)
        }
        #expect(state.phase == .launching && state.snapshotState == .opening && state.passes.isEmpty)
        #expect(started(tell(launched(), &state)) == [4])
        #expect(state.phase == .active && state.currentTrack?.id == all[3].id)
    }

    @Test func `a queue in which all fails ends where it would have`() {
        var state = begun { $0.queue.repeatMode = .all }
        var failures = 0
        while state.phase != .over, failures < 20 {
            if state.phase == .launching { _ = tell(launched(), &state) }
            guard let id = state.currentPass else { break }
            _ = tell(.passFailed(id, broken, frames: 0), &state)
            failures += 1
        }
        #expect(state.phase == .over && failures == 6)
    }

    @Test(arguments: [true, false])
    func `first tracks that prove to be all end the queue`(exits: Bool) {
        var state = begun(start: 3, exitsAtEnd: exits)
        state.currentPass.map { _ = tell(.passFailed($0, broken, frames: 0), &state) }
        _ = tell(.launched(tracks: first, problems: [], start: 3, position: .zero), &state)
        #expect(state.phase == (exits ? .over : .ended))
    }

    // MARK: Commands in the meantime

    @Test(
        arguments: [
            .jump(4), .add("x"), .remove(1), .move(1, to: 3), .sort(.title), .shuffle, .shuffleNow, .clear,
            .undo,
            .save("x"), .pin(4),
        ] as [PlayerCommand]
    )
    func `what needs all tracks is done once they are there`(command: PlayerCommand) {
        var state = begun(exitsAtEnd: false)
        sound(&state)
        #expect(
            !state.willCut(.command(command), at: .zero),
            "the sound does not stand still for what is not done"
        )
        #expect(tell(.command(command), &state).isEmpty)
        #expect(state.queue.tracks == first && !state.queue.isShuffled && state.isSounding)
        var model = state
        model.held = []
        _ = tell(launched(), &model)
        let effects = tell(launched(), &state)
        #expect(effects == [.emit(.loaded(tracks: 6))] + tell(.command(command), &model))
        #expect(state.queue.tracks == model.queue.tracks && state.queue.order == model.queue.order)
    }

    @Test func `next and previous are done at once where what they lead to is known`() {
        var state = begun(start: 2, exitsAtEnd: false) { $0.queue.repeatMode = .all }
        #expect(started(tell(.command(.next), &state)) == [3])
        #expect(tell(.command(.next), &state).isEmpty && state.held == [.next])
        #expect(started(tell(launched(), &state)) == [4])
        state = begun(start: 2, exitsAtEnd: false) { $0.queue.repeatMode = .all }
        #expect(started(tell(.command(.previous), &state)) == [1])
        #expect(tell(.command(.previous), &state).isEmpty)
        #expect(started(tell(launched(), &state)) == [6])
    }

    @Test func `the sound obeys at once, and what is asked for behind a jump holds behind it`() {
        var state = begun(exitsAtEnd: false)
        sound(&state)
        #expect(started(tell(.command(.seek(.to(.seconds(5)))), &state)) == [1])
        sound(&state)
        _ = tell(.command(.jump(5)), &state)
        #expect(tell(.command(.seek(.to(.seconds(7)))), &state).isEmpty)
        #expect(tell(.command(.toggle), &state).contains(.pauseOutput))
        #expect(state.isPaused)
        #expect(tell(.command(.volume(3)), &state) == [.setVolume(3, isMuted: false)])
        let effects = tell(launched(), &state)
        #expect(started(effects) == [5, 5])
        #expect(state.isPaused && state.position == .seconds(7) && state.currentTrack?.id == all[4].id)
    }

    @Test func `the sound stands still for what is done when the rest is there`() {
        for (command, cuts) in [(.jump(5), true), (.save("x"), false)] as [(PlayerCommand, Bool)] {
            var state = begun(exitsAtEnd: false)
            sound(&state)
            _ = tell(.command(command), &state)
            #expect(state.willCut(launched(), at: .zero) == cuts, "\(command)")
        }
    }

    @Test func `what waited is done also where nothing more is played`() {
        var state = begun(start: 3)
        _ = tell(.command(.save("mine.m3u")), &state)
        state.currentPass.map { _ = tell(.passFailed($0, broken, frames: 0), &state) }
        let effects = tell(.launched(tracks: first, problems: [], start: 3, position: .zero), &state)
        #expect(effects.suffix(2) == [.save("mine.m3u"), .finish(fatal: nil)])
    }

    @Test func `back to the start of the song needs no other`() {
        var state = begun(exitsAtEnd: false) { $0.queue.repeatMode = .all }
        sound(&state)
        #expect(started(state.handle(.command(.previous), heard: 5_000, now: .zero)) == [1])
    }

    @Test func `a list that was not saved before the end is told of`() {
        var state = begun()
        _ = tell(.command(.save("mine.m3u")), &state)
        let told = events(tell(.command(.quit), &state))
        #expect(told.contains { if case .notice("bad-command", _) = $0 { true } else { false } })
        #expect(state.phase == .over)
    }

    @Test func `how many tracks there are is told once, also to who asks`() {
        var state = begun(exitsAtEnd: false)
        _ = tell(.command(.stop), &state)
        #expect(tell(.command(.status), &state).isEmpty)
        #expect(events(tell(launched(), &state)) == [.loaded(tracks: 6), .loaded(tracks: 6)])
        #expect(state.phase == .stopped)
    }

    @Test(arguments: TestCount.seeds(300, full: 20_000))
    func `whatever happens while the rest is read, every effect is legal and all tracks are there in the end`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var state = PlayerState(exitsAtEnd: seed % 2 == 0, opensEachTrack: seed % 5 == 0, seed: seed)
        var world = ModelWorld(seed: seed)
        let start = Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil
        for _ in 0..<Int.random(in: 0...2, using: &random) { world.command(&state) }
        world.tell(.begun(tracks: first, start: start, position: .zero), &state)
        for _ in 0..<Int.random(in: 0...60, using: &random) where !world.isFinished {
            world.step(&state)
            #expect(world.isFinished || state.queue.tracks == (state.queue.isIncomplete ? first : []))
        }
        #expect(!world.isFinished, "nothing ends a queue of which more is to come, and nobody quits")
        state.held = []
        world.tell(launched(start: start), &state)
        #expect(Set(state.queue.tracks.map(\.id)) == Set(all.map(\.id)))
        for _ in 0..<100 where !world.isFinished { world.step(&state) }
        if !world.isFinished { world.tell(.command(.quit), &state) }
        #expect(world.isFinished)
        #expect(world.liveCount == 0, "every pass was cancelled")
    }
}
