import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Each change of volume, modes and queue is an event.
struct AnnouncedChangeTests {
    private func changes(_ inputs: PlayerInput..., in state: inout PlayerState) -> [PlayerEvent] {
        inputs.flatMap { state.effects(of: $0, heard: 500, now: .seconds(1)) }.compactMap { effect in
            guard case .emit(let event) = effect else { return nil }
            switch event {
            case .volume, .mode, .queue: return event
            default: return nil
            }
        }
    }

    private func queue(
        _ change: PlayerEvent.QueueReport.Change,
        _ places: RangeSet<Int>? = nil,
        to target: Int? = nil,
        count: Int,
        index: Int?
    ) -> PlayerEvent {
        var report = PlayerEvent.QueueReport(change, places, target: target)
        report.count = count
        report.index = index
        return .queue(report)
    }

    @Test func `the first event of a track has what the queue knows of it`() {
        var state = PlayerState.sounding(2)
        let facts = TrackFacts(tags: TrackTags(title: "River", artist: "Edda"), duration: .seconds(9))
        state.send(.factsFound([state.queue.tracks[1].id: facts], isLast: true))
        let effects = state.send(.command(.next))
        let reports = effects.compactMap { if case .emit(.track(let report)) = $0 { report } else { nil } }
        #expect(reports.map(\.tags.title) == ["River"] && reports.map(\.duration) == [.seconds(9)])
        #expect(effects.contains(.setTitle(SoundTitle("River", by: "Edda"))))
    }

    @Test(arguments: [(4_999, false, true), (5_000, false, false), (4_999, true, false)])
    func `a track that is left within five seconds was skipped, except by quitting`(
        frames: Int,
        isQuit: Bool,
        isBrief: Bool
    ) {
        var state = PlayerState.sounding(2)
        let reports = state.send(.command(isQuit ? .quit : .next), heard: FrameCount(frames)).compactMap {
            if case .endTrack(_, let report) = $0 { report } else { nil }
        }
        #expect(reports.map(\.frames) == [FrameCount(frames)] && reports.map(\.isBrief) == [isBrief])
        var totals = PlayerEvent.SummaryReport()
        for report in reports { totals.trackEnded(report) }
        #expect((totals.played, totals.skipped) == (1, isBrief ? 1 : 0))
    }

    @Test func `volume and mute are announced if they change, by whomever`() {
        var state = PlayerState.sounding(1)
        #expect(
            changes(.command(.volume(30)), .command(.volume(30)), in: &state)
                == [.volume(percent: 30, isMuted: false)]
        )
        #expect(changes(.command(.mute), in: &state) == [.volume(percent: 30, isMuted: true)])
        let server = PlayerInput.outputEvent(.volumeChanged(percent: 100, isMuted: false))
        #expect(changes(server, in: &state) == [.volume(percent: 100, isMuted: false)])
        #expect(changes(.command(.changeVolume(by: 5)), in: &state) == [])
    }

    @Test func `modes are announced together`() {
        var state = PlayerState.sounding(1)
        var modes = PlayModes(isShuffled: true, repeatMode: .off, gainMode: .off)
        #expect(changes(.command(.setShuffle(nil)), in: &state) == [.mode(modes)])
        modes.repeatMode = .all
        #expect(changes(.command(.setRepeat(nil)), in: &state) == [.mode(modes)])
        modes.gainMode = .album
        #expect(changes(.command(.setGain(.album)), in: &state) == [.mode(modes)])
        #expect(changes(.command(.setGain(.album)), in: &state) == [])
    }

    @Test func `a change of the queue says what moved, and which number the current track has now`() {
        var state = PlayerState.sounding(5, exitsAtEnd: false)
        let last = RangeSet([3..<5])
        #expect(
            changes(.command(.move(TrackNumbers(places: last), to: 1)), in: &state)
                == [queue(.moved, last, to: 1, count: 5, index: 3)]
        )
        #expect(changes(.command(.undo), in: &state) == [queue(.reordered, count: 5, index: 1)])
        #expect(
            changes(.command(.remove(2)), in: &state)
                == [queue(.removed, RangeSet(1..<2), count: 4, index: 1)]
        )
        #expect(
            changes(.command(.undo), in: &state) == [queue(.restored, RangeSet(1..<2), count: 5, index: 1)]
        )
        #expect(changes(.command(.shuffleNow), in: &state) == [queue(.shuffled, count: 5, index: 1)])
        #expect(
            changes(.added(numbered(6...7), problems: []), in: &state)
                == [queue(.added, RangeSet(5..<7), count: 7, index: 1)]
        )
        #expect(changes(.command(.clear), in: &state) == [queue(.cleared, count: 0, index: nil)])
        #expect(changes(.command(.undo), in: &state).count == 1)
        #expect(changes(.command(.undo), .command(.remove(99)), in: &state).count == 1)
    }

    @Test func `the sound server shows a track under the name of its row in the queue`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        var info = StreamInfo.music()
        info.tags = TrackTags(title: "River", artist: "Edda")
        state.send(.launched(numbered(1...1)))
        #expect(state.send(.ready(1, info)).contains(.setTitle(SoundTitle("River", by: "Edda"))))
    }

    @Test func `status is answered by the track, its position, and the state with volume and modes`() {
        var state = PlayerState.sounding(2)
        let answers = state.send(.status)
        guard case .answer(let effects)? = answers.first, answers.count == 1, case .emit(.track) = effects[0]
        else {
            Issue.record("another answer: \(answers)")
            return
        }
        #expect(effects.dropFirst() == [.emitPosition(index: 1), .emitStatus])
    }

    @Test func `list is answered once`() {
        var state = PlayerState.sounding(2)
        #expect(state.send(.list) == [.answer([.emitList])])
    }

    @Test func `answers and refusals reach the program alone that asked, and changes reach all`() async throws
    {
        let stage = Stage((1...2).map { FakeMusic(number: $0, frames: 9_000) }, sink: TestSink(allowance: 0))
        try await stage.play { stage in
            try await wait(for: "the track") { stage.player.snapshot.info != nil }
            let answers = Locked<[PlayerEvent]>([])
            let ends: ([PlayerEvent]) -> [Bool] = {
                $0.compactMap { if case .answered(let isAccepted) = $0 { isAccepted } else { nil } }
            }
            let before = stage.events.count
            for command in [PlayerCommand.status, .list, .remove(9), .volume(30)] {
                stage.player.sendInTurn(command) { event in answers.withLock { $0.append(event) } }
            }
            try await wait(for: "the answers") { ends(answers.withLock { $0 }).count == 4 }
            let all = answers.withLock { $0 }
            #expect(ends(all) == [true, true, false, true])
            #expect(all.contains(.notice(code: "bad-command", message: "No track 9")))
            #expect(all.count == 4 + 5)
            let others = stage.events.dropFirst(before)
            #expect(others.contains(.volume(percent: 30, isMuted: false)))
            #expect(!others.contains { answers.withLock { $0 }.contains($0) })
        }
    }

    @Test func `a seek in a live stream is refused to the program that asked`() async throws {
        var station = FakeMusic(number: 1, frames: 9_000)
        station.live = LiveReport()
        let stage = Stage([station], sink: TestSink(allowance: 0))
        try await stage.play { stage in
            try await wait(for: "the station") { stage.player.snapshot.info != nil }
            let answers = Locked<[PlayerEvent]>([])
            stage.player.sendInTurn(.seek(.to(.zero))) { event in answers.withLock { $0.append(event) } }
            try await wait(for: "the answers") { answers.withLock { $0.count } == 2 }
            #expect(
                answers.withLock { $0 } == [
                    .remark(code: "not-seekable", message: "Can't seek in a live stream"),
                    .answered(isAccepted: false),
                ]
            )
            #expect(!stage.notices.contains("not-seekable"))
        }
    }

    @Test func `status and list report what the newest snapshot shows`() async throws {
        let stage = Stage((1...2).map { FakeMusic(number: $0, frames: 9_000) }, sink: TestSink(allowance: 0))
        try await stage.play { stage in
            try await wait(for: "the track") { stage.player.snapshot.info != nil }
            stage.player.send(.status)
            stage.player.send(.list)
            try await wait(for: "the answers") {
                stage.events.contains { if case .list = $0 { true } else { false } }
            }
            for event in stage.events {
                switch event {
                case .status(let player), .list(let player):
                    #expect(player.tracks.count == 2 && player.currentIndex == 0 && player.volume == 100)
                    #expect(player.learned == stage.player.snapshot.learned)
                default: break
                }
            }
        }
    }
}
