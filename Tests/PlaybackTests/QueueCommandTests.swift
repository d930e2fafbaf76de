import Media
import TestSupport
import Testing

@testable import Playback

/// What becomes of the music when the queue is changed.
struct QueueCommandTests {
    private let format = AudioFormat(sampleRate: 1_000, channelCount: 2)

    private func info(title: SafeText? = nil) -> StreamInfo {
        var info = StreamInfo(format: format, bytesPerSecond: 4_000)
        info.duration = .seconds(10)
        info.tags.title = title
        return info
    }

    /// So many tracks, of which the first sounds.
    private func sounding(_ count: Int) -> PlayerState {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let tracks = (1...count).map { FakeMusic(number: $0, frames: 1).track }
        let landing = SeekLanding(frame: 0, isExact: true)
        for input in [
            .launched(tracks: tracks, problems: [], start: 1, position: .zero),
            .passReady(PassID(value: 1), info(), landing, isSeekable: true),
            .passGranted(PassID(value: 1), start: 0), .passPrimed(PassID(value: 1)), .outputStarted,
        ] as [PlayerInput] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        return state
    }

    private func numbers(_ state: PlayerState) -> [UInt64] { state.queue.tracks.map(\.id.value) }

    private func command(_ command: PlayerCommand, _ state: inout PlayerState) -> [PlayerEffect] {
        state.handle(.command(command), heard: 500, now: .seconds(1))
    }

    private func begun(_ effects: [PlayerEffect]) -> Track.ID? {
        for case .startPass(_, let track, at: _, reusing: _, refresh: _) in effects { return track.id }
        return nil
    }

    @Test func `the music goes on when others are removed, moved, sorted, shuffled and brought back`() {
        var state = sounding(5)
        for change in [
            .remove(TrackNumbers(places: RangeSet([1..<2, 3..<4]))), .move(3, to: 1), .sort(.source),
            .shuffleNow, .undo, .undo, .undo, .undo,
        ] as [PlayerCommand] {
            let effects = command(change, &state)
            #expect(begun(effects) == nil)
            #expect(!effects.contains { if case .endTrack = $0 { true } else { false } })
            #expect(state.currentTrack?.id == Track.ID(1))
            #expect(state.position == .milliseconds(500))
        }
        #expect(numbers(state) == [1, 2, 3, 4, 5])
    }

    @Test func `when the current track is among the removed, the next that stays is played`() {
        var state = sounding(5)
        let effects = command(.remove(TrackNumbers(places: RangeSet(0..<3))), &state)
        #expect(begun(effects) == Track.ID(4))
        // After the undo, the track is back in its place, and the other one is still playing.
        #expect(begun(command(.undo, &state)) == nil)
        #expect(numbers(state) == [1, 2, 3, 4, 5])
        #expect(state.queue.current == 3)
    }

    @Test func `clearing stops the music; undone, play begins where it was`() {
        var state = sounding(3)
        _ = command(.jump(2), &state)
        _ = command(.clear, &state)
        #expect(state.queue.tracks.isEmpty && state.snapshotState == .stopped)
        let effects = command(.undo, &state)
        #expect(begun(effects) == nil && state.snapshotState == .stopped)
        #expect(begun(command(.play, &state)) == Track.ID(2))
    }

    @Test func `a next track that is written already is not heard when it is among the removed`() {
        var state = sounding(4)
        let landing = SeekLanding(frame: 0, isExact: true)
        for input in [
            .passWritten(PassID(value: 1), frames: 900),
            .passReady(PassID(value: 2), info(), landing, isSeekable: true),
            .passGranted(PassID(value: 2), start: 900),
        ] as [PlayerInput] {
            _ = state.handle(input, heard: 200, now: .zero)
        }
        let both = PlayerCommand.remove(TrackNumbers(places: RangeSet([1..<2, 3..<4])))
        #expect(command(both, &state).contains(.cancelPass(PassID(value: 2), keepsResource: false)))
        #expect(numbers(state) == [1, 3])
    }

    @Test func `undo says what came back, and that there is nothing more`() {
        var state = sounding(3)
        _ = command(.remove(TrackNumbers(places: RangeSet(1..<3))), &state)
        #expect(command(.undo, &state).first == .emit(.remark(code: "undone", message: "Restored 2 tracks")))
        #expect(
            command(.undo, &state) == [
                .emit(.notice(code: "bad-command", message: "Nothing to undo"))
            ]
        )
        #expect(state.messages.map(\.number) == [1, 2])
        #expect(state.messages.allSatisfy { $0.time == .seconds(1) })
    }

    @Test(
        arguments: [
            .remove(4), .remove(TrackNumbers(places: RangeSet(2..<9))), .move(1, to: 4), .move(4, to: 1),
        ]
            as [PlayerCommand]
    )
    func `numbers beyond the queue change nothing and are explained`(wrong: PlayerCommand) {
        var state = sounding(3)
        guard case .emit(.notice(code: "bad-command", message: _)) = command(wrong, &state).first else {
            Issue.record("no notice")
            return
        }
        #expect(numbers(state) == [1, 2, 3] && state.queue.revision == 0)
    }

    @Test func `what music says of itself is kept when another track is current`() {
        var state = sounding(2)
        _ = state.handle(.infoChanged(PassID(value: 1), info(title: "River")), heard: 0, now: .zero)
        _ = command(.jump(2), &state)
        #expect(state.learned[Track.ID(1)]?.tags.title == "River")
        #expect(state.describedTracks.first?.tags.title == "River")
        #expect(state.describedTracks.first?.duration == .seconds(10))
    }

    @Test func `what was added and saved is said`() {
        var state = sounding(2)
        _ = state.handle(.added([FakeMusic(number: 7, frames: 1).track], problems: []), heard: 0, now: .zero)
        #expect(state.messages.last?.text == "Added 1 track")
        let effects = state.handle(.saved(count: 3, path: "/tmp/a\u{1B}.m3u8"), heard: 0, now: .zero)
        #expect(effects == [.emit(.remark(code: "saved", message: "Saved 3 tracks as /tmp/a\u{FFFD}.m3u8"))])
        #expect(state.messages.last?.text == "Saved 3 tracks as /tmp/a\u{FFFD}.m3u8")
    }

    private func added(_ numbers: [Int], _ state: inout PlayerState) {
        let tracks = numbers.map { FakeMusic(number: $0, frames: 1).track }
        _ = state.handle(.added(tracks, problems: []), heard: 500, now: .seconds(1))
    }

    @Test func `a list that was pasted is undone as a whole, what was added later by itself`() {
        var state = sounding(2)
        for source in ["a", "b", "c"] { _ = command(.add(source), &state) }
        added([3, 4], &state)
        added([], &state)
        added([5], &state)
        _ = command(.add("d"), &state)
        added([6], &state)
        #expect(
            command(.undo, &state).first == .emit(.remark(code: "undone", message: "Removed 1 track"))
        )
        #expect(numbers(state) == [1, 2, 3, 4, 5])
        #expect(
            command(.undo, &state).first == .emit(.remark(code: "undone", message: "Removed 3 tracks"))
        )
        #expect(numbers(state) == [1, 2])
        // The initial tracks are not a step.
        #expect(command(.undo, &state).count == 1 && numbers(state) == [1, 2])
    }

    @Test func `undone in the middle of a list, the rest of it is another step`() {
        var state = sounding(2)
        _ = command(.add("before"), &state)
        added([3], &state)
        for source in ["a", "b"] { _ = command(.add(source), &state) }
        added([4], &state)
        _ = command(.undo, &state)
        added([5], &state)
        _ = command(.undo, &state)
        #expect(numbers(state) == [1, 2, 3])
    }

    @Test func `an added track that is heard stops when its adding is undone`() {
        var state = sounding(1)
        _ = command(.add("a"), &state)
        added([2], &state)
        _ = command(.jump(2), &state)
        let effects = command(.undo, &state)
        #expect(effects.contains { if case .endTrack = $0 { true } else { false } })
        #expect(numbers(state) == [1] && state.queue.current == nil && state.snapshotState == .ended)
    }
}
