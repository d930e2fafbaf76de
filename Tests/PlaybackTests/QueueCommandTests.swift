import Media
import TestSupport
import Testing

@testable import Playback

/// The effects of changes of the queue on the music.
struct QueueCommandTests {
    private func numbers(_ state: PlayerState) -> [UInt64] { state.queue.tracks.map(\.id.value) }

    private func command(_ command: PlayerCommand, _ state: inout PlayerState) -> [PlayerEffect] {
        state.send(command, heard: 500, now: .seconds(1))
    }

    private func notice(_ text: SafeText) -> PlayerEffect {
        .emit(.notice(code: "bad-command", message: text))
    }

    private func undone(_ text: SafeText) -> PlayerEffect { .emit(.remark(code: "undone", message: text)) }

    @Test
    func `previous restarts a track that has played for a while, the first one, and the last one at the end`()
    {
        var state = PlayerState.sounding(2)
        #expect(state.previousRestarts, "no other precedes it")
        state.send(.next)
        state.send(.ready(2))
        state.sound(2)
        #expect(!state.previousRestarts)
        state.send(.tick, heard: 3_001)
        #expect(state.position > .seconds(3) && state.previousRestarts)
        state.send(.command(.stop), heard: 3_001)
        #expect(!state.previousRestarts)
    }

    private static let gone = MediaError(.notFound, "x", "gone")

    /// Sends the failure of the pass that `effects` began.
    private func fail(_ effects: [PlayerEffect], _ state: inout PlayerState) throws -> [PlayerEffect] {
        state.send(.passFailed(try #require(effects.start).id, Self.gone, frames: 0))
    }

    @Test func `previous passes over tracks that fail, and returns to its own if none before plays`() throws {
        var state = PlayerState.sounding(4, exitsAtEnd: false)
        state.send(.jump(4))
        var effects = try fail(state.send(.previous), &state)
        #expect(effects.start?.track.id == Track.ID(2))
        effects = try fail(effects, &state)
        #expect(effects.start?.track.id == Track.ID(1))
        effects = try fail(effects, &state)
        #expect(effects.start?.track.id == Track.ID(4))
        // Afterwards, what fails is passed over forwards again.
        effects = try fail(state.send(.jump(2)), &state)
        #expect(effects.start?.track.id == Track.ID(3))
    }

    @Test func `previous after the end passes over a last track that fails`() throws {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        _ = try fail(state.send(.next), &state)
        #expect(state.phase == .ended)
        #expect(try fail(state.send(.previous), &state).start?.track.id == Track.ID(1))
    }

    @Test func `a track that previous has reached, and that was heard, is passed over forwards`() throws {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        state.send(.jump(3))
        let id = try #require(state.send(.previous).start).id
        state.send(.ready(id))
        state.sound(id)
        state.send(.passWritten(id, frames: 1_000))
        let effects = try fail(state.send(.seek(.to(.seconds(5)))), &state)
        #expect(effects.start?.track.id == Track.ID(3))
    }

    @Test func `an addition after the end that finds no track changes nothing, and the next one plays`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        for _ in 0..<2 { state.send(.next) }
        #expect(state.phase == .ended)
        state.send(.add("x"))
        #expect(state.send(.added([], problems: [])).start == nil && state.phase == .ended)
        #expect(state.send(.added(numbered([11, 12]), problems: [])).start?.track.id == Track.ID(11))
        #expect(state.send(.added(numbered([13]), problems: [])).start == nil)
        #expect(state.queue.currentTrack?.id == Track.ID(11))
    }

    @Test func `playback continues when other tracks are removed, moved, sorted, shuffled and restored`() {
        var state = PlayerState.sounding(5, exitsAtEnd: false)
        for change in [
            .remove(TrackNumbers(places: RangeSet([1..<2, 3..<4]))), .move(3, to: 1), .sort(.source),
            .shuffleNow, .undo, .undo, .undo, .undo,
        ] as [PlayerCommand] {
            let effects = command(change, &state)
            #expect(effects.start == nil)
            #expect(!effects.endsTrack)
            #expect(state.queue.currentTrack?.id == Track.ID(1))
            #expect(state.position == .milliseconds(500))
        }
        #expect(numbers(state) == [1, 2, 3, 4, 5])
    }

    // MARK: Tracks that are lists

    private let list = ResolvedTracks(tracks: numbered([11, 12]))

    @Test func `the tracks of a list take its place, and the first of them is played`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...3), start: 2))
        let effects = state.send(.listFound(1, list))
        #expect(numbers(state) == [1, 11, 12, 3])
        #expect(effects.start?.track.id.value == 11 && effects.contains(.cancelPass(1, keepsResource: false)))
        #expect(effects.contains(.emit(.loaded(tracks: 4))))
        #expect(state.send(.listFound(1, list)).isEmpty, "the pass is over")
    }

    @Test func `if the next track is a list, playback continues, and the first of its tracks is the next`() {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), heard: 100)
        let effects = state.send(.listFound(2, list), heard: 200)
        #expect(numbers(state) == [1, 11, 12, 3] && state.queue.currentTrack?.id == Track.ID(1))
        #expect(!effects.endsTrack && effects.start?.track.id.value == 11)
    }

    @Test(arguments: [[11], [11, 12, 13]], [false, true])
    func `a list is replaced in a shuffled order too, and one track more or less keeps the history`(
        tracks: [Int],
        isShuffled: Bool
    ) {
        var queue = PlayQueue(seed: 3)
        queue.append(numbered(1...5))
        queue.remove(RangeSet(4..<5))
        if isShuffled { queue.setShuffle(!queue.isShuffled) }
        let first = queue.replace(1, by: numbered(tracks))
        #expect(tracks.contains(Int(queue.tracks[first].id.value)))
        var heard: [UInt64] = []
        var place = queue.next(after: nil)
        while let next = place {
            heard.append(queue.tracks[next].id.value)
            place = queue.next(after: next)
        }
        #expect(heard.sorted() == [1, 3, 4] + tracks.map { UInt64($0) })
        #expect(heard.filter { $0 > 10 }.count == tracks.count)
        let undone = queue.undo()
        #expect((undone != nil) == (tracks.count == 1))
    }

    @Test(arguments: [false, true])
    func `if the current track is removed, the next one is played; its undo continues it where it was`(
        isPaused: Bool
    ) {
        var state = PlayerState.sounding(5, exitsAtEnd: false)
        if isPaused { _ = command(.pause, &state) }
        let effects = command(.remove(TrackNumbers(places: RangeSet(0..<3))), &state)
        #expect(effects.start?.track.id.value == 4)
        let undone = command(.undo, &state)
        #expect(numbers(state) == [1, 2, 3, 4, 5] && state.queue.current == 0)
        #expect(undone.start?.track.id.value == 1 && undone.start?.position == .milliseconds(500))
        #expect(state.isPaused == isPaused)
        #expect(undone.contains { if case .emit(.paused) = $0 { true } else { false } } == isPaused)
    }

    @Test func `an undone removal leaves a track alone that the user has chosen since`() {
        var state = PlayerState.sounding(5, exitsAtEnd: false)
        _ = command(.remove(1), &state)
        _ = command(.jump(3), &state)
        #expect(command(.undo, &state).start == nil)
        #expect(numbers(state) == [1, 2, 3, 4, 5] && state.queue.current == 3)
    }

    @Test(arguments: [false, true])
    func `clearing stops playback; its undo continues it at its position`(isPaused: Bool) {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        if isPaused { _ = command(.pause, &state) }
        _ = command(.clear, &state)
        #expect(state.queue.tracks.isEmpty && state.snapshotState == .stopped)
        let effects = command(.undo, &state)
        #expect(effects.start?.track.id.value == 1 && effects.start?.position == .milliseconds(500))
        #expect(numbers(state) == [1, 2, 3] && state.isPaused == isPaused)
    }

    @Test func `a queue that was stopped stays stopped when its clearing is undone`() {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        _ = command(.stop, &state)
        _ = command(.clear, &state)
        #expect(command(.undo, &state).start == nil && state.snapshotState == .stopped)
        #expect(command(.play, &state).start?.track.id.value == 1)
    }

    @Test func `clearing the others keeps the current track playing, and is undone in one step`() {
        var state = PlayerState.sounding(4, exitsAtEnd: false)
        _ = command(.move(1, to: 3), &state)
        let effects = command(.clearOthers, &state)
        #expect(numbers(state) == [1] && effects.start == nil && !effects.endsTrack)
        #expect(state.position == .milliseconds(500))
        #expect(command(.clearOthers, &state) == [], "there are no others")
        #expect(command(.undo, &state).first == undone("Restored 3 tracks"))
        #expect(numbers(state) == [2, 3, 1, 4] && state.queue.current == 2)
    }

    @Test func `after an undo in shuffled order, the same tracks follow as before`() {
        var state = PlayerState.sounding(6, exitsAtEnd: false)
        _ = command(.setShuffle(nil), &state)
        func order() -> [UInt64] {
            var places = [UInt64]()
            var place = state.queue.current
            while let here = place {
                places.append(state.queue.tracks[here].id.value)
                place = state.queue.next(after: here)
            }
            return places
        }
        let before = order()
        _ = command(.remove(1), &state)
        #expect(order() == Array(before.dropFirst()))
        _ = command(.undo, &state)
        #expect(order() == before)
    }

    @Test func `a removed next track is not heard even if it was written already`() {
        var state = PlayerState.sounding(4, exitsAtEnd: false)
        state.send(.passWritten(1, frames: 900), .ready(2), .passGranted(2, start: 900), heard: 200)
        let both = PlayerCommand.remove(TrackNumbers(places: RangeSet([1..<2, 3..<4])))
        #expect(command(both, &state).contains(.cancelPass(2, keepsResource: false)))
        #expect(numbers(state) == [1, 3])
    }

    @Test func `undo reports what it restored, or that there is nothing to undo`() {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        _ = command(.remove(TrackNumbers(places: RangeSet(1..<3))), &state)
        #expect(command(.undo, &state).first == undone("Restored 2 tracks"))
        #expect(command(.undo, &state) == [notice("Nothing to undo")])
        #expect(state.announcer.messages.map(\.number) == [1, 2])
        #expect(state.announcer.messages.allSatisfy { $0.time == .seconds(1) })
    }

    @Test(
        arguments: [
            (.remove(4), "No track 4"), (.remove(TrackNumbers(places: RangeSet(2..<9))), "No track 9"),
            (.move(1, to: 4), "Tracks are numbered 1 to 3"), (.move(4, to: 1), "Tracks are numbered 1 to 3"),
        ] as [(PlayerCommand, SafeText)]
    )
    func `numbers beyond the queue change nothing and are explained`(wrong: PlayerCommand, text: SafeText) {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        #expect(command(wrong, &state) == [notice(text)])
        #expect(numbers(state) == [1, 2, 3] && state.queue.revision == 0)
    }

    @Test func `the tags of a track stay known when another one is current`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.infoChanged(1, .music(title: "River")))
        _ = command(.jump(2), &state)
        #expect(state.described.first?.tags.title == "River")
        #expect(state.described.first?.duration == .seconds(10))
    }

    /// What a player does while nothing plays.
    @Test(arguments: [false, true], [false, true])
    func `shuffle on and off set the mode, whatever it was, and only a change is reported`(
        wasOn: Bool,
        isOn: Bool
    ) {
        var state = PlayerState.sounding(5, exitsAtEnd: false)
        state.send(.command(.setShuffle(wasOn)))
        let revision = state.queue.revision
        let effects = state.send(.command(.setShuffle(isOn)))
        #expect(state.queue.isShuffled == isOn && state.queue.revision == revision)
        let modes = PlayModes(isShuffled: isOn, repeatMode: .off, gainMode: .off)
        #expect(effects.contains(.emit(.mode(modes))) == (wasOn != isOn))
    }

    enum Rest: CaseIterable { case empty, ended, stopped, cleared, shuffled, failed }

    private func resting(_ rest: Rest, exitsAtEnd: Bool) -> PlayerState {
        var state = PlayerState.sounding(rest == .shuffled ? 5 : 1, exitsAtEnd: exitsAtEnd)
        switch rest {
        case .empty:
            state = PlayerState(exitsAtEnd: false, seed: 1)
            state.send(.launched([], start: nil))
        case .ended: state.send(.scripted(.next))
        case .stopped: state.send(.scripted(.stop))
        case .cleared: state.send(.scripted(.clear))
        case .shuffled: state.send(.scripted(.setShuffle(nil)), .scripted(.stop))
        case .failed: state.send(.passFailed(1, MediaError(.notFound, "1", "gone"), frames: 0))
        }
        return state
    }

    @Test(arguments: Rest.allCases)
    func `what a person adds while nothing plays is played at once`(rest: Rest) {
        var state = resting(rest, exitsAtEnd: false)
        #expect(state.phase == .stopped || state.phase == .ended)
        state.send(.add("a"))
        state.send(.add("b"))
        let effects = state.send(.added(numbered(7...8), problems: []))
        #expect(effects.start?.track.id == Track.ID(7) && state.phase == .active)
        #expect(state.send(.added(numbered(9...9), problems: [])).start == nil)
        #expect(state.queue.currentTrack?.id == Track.ID(7))
    }

    @Test func `what a script adds after stop waits for play`() {
        var state = resting(.stopped, exitsAtEnd: true)
        state.send(.scripted(.add("a")))
        #expect(state.send(.added(numbered(7...7), problems: [])).start == nil && state.phase == .stopped)
    }

    @Test func `what is added while music plays or is paused waits for its turn`() {
        for isPaused in [false, true] {
            var state = PlayerState.sounding(2, exitsAtEnd: false)
            if isPaused { state.send(.pause) }
            state.send(.add("a"))
            #expect(state.send(.added(numbered(7...7), problems: [])).start == nil)
            #expect(state.queue.current == 0)
        }
    }

    @Test func `additions and saves are reported`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.added(numbered(7...7), problems: []))
        #expect(state.announcer.messages.last?.text == "Added 1 track")
        let effects = state.send(.saved(count: 3, path: "/tmp/a\u{1B}.m3u8"))
        #expect(effects == [.emit(.remark(code: "saved", message: "Saved 3 tracks as /tmp/a\u{FFFD}.m3u8"))])
        #expect(state.announcer.messages.last?.text == "Saved 3 tracks as /tmp/a\u{FFFD}.m3u8")
    }

    @Test func `several additions are reported together, and those that failed are named`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        for source in ["a", "b", "c"] { _ = command(.add(source), &state) }
        let missing = MediaError(.notFound, "b", "there is no such file")
        state.send(.added(numbered(7...7), problems: []), .added([], problems: [missing]))
        state.send(.added(numbered(8...8), problems: []))
        #expect(
            state.announcer.messages.map(\.text) == [
                missing.safeText, "Added 2 tracks; failed: b",
            ],
            "each sum takes the place of the one before it"
        )
        _ = command(.add("d"), &state)
        state.send(.added(numbered(9...9), problems: []))
        #expect(state.announcer.messages.last?.text == "Added 1 track")
    }

    /// Episodes of one feed with these guids.
    private func episodes(_ guids: ClosedRange<Int>, of feed: String = "http://h/f") -> [Track] {
        numbered(guids).map { track in
            var track = track
            track.episode = Episode(feed: feed, guid: "\(track.id.value)", date: nil, place: 0)
            return track
        }
    }

    @Test func `a feed that is added again adds only its new episodes, and says so`() {
        var state = PlayerState.sounding(1, exitsAtEnd: false)
        state.send(.added(episodes(11...13), problems: [], source: "http://h/f"))
        let effects = state.send(.added(episodes(10...13), problems: [], source: "http://h/f"))
        #expect(state.queue.tracks.map(\.id.value) == [1, 11, 12, 13, 10])
        let text: SafeText = "Added 1 track, 3 already in the queue"
        #expect(effects.contains(.emit(.remark(code: "already-queued", message: text))))
        #expect(state.announcer.messages.last?.text == text)
        state.send(.added(episodes(10...13), problems: [], source: "another name of the feed"))
        #expect(state.announcer.messages.last?.text == "Added nothing new, 4 already in the queue")
        #expect(state.announcer.messages.count { $0.failed != nil } == 0 && state.queue.tracks.count == 5)
        // The same guids in another feed are other episodes.
        state.send(.added(episodes(10...13, of: "http://i/f"), problems: [], source: "http://i/f"))
        #expect(state.queue.tracks.count == 9)
    }

    @Test(arguments: [
        // The list, whether it is of this session or of the command line, adds its new tracks only.
        (["list", "list"], 2, [7, 8, 9]), (["start"], 2, [7, 8, 9]),
        (["other", "list"], 2, [7, 8, 7, 8, 9]),
        // A track adds itself again.
        (["list", "list"], 1, [7, 7]), (["start"], 1, [7]),
    ])
    func `a list that is added again adds only its new tracks`(
        sources: [String],
        count: Int,
        expected: [Int]
    ) {
        var state = PlayerState(exitsAtEnd: false, startSources: ["start"], seed: 1)
        if sources == ["start"] {
            let known = count > 1 ? numbered(7...8) : []
            state.send(.launched(ResolvedTracks(tracks: known), start: nil, position: .zero))
        }
        for (turn, source) in sources.enumerated() {
            let isLast = turn == sources.count - 1
            let last = count == 1 ? 7 : isLast ? 9 : 8
            state.send(.added(numbered(7...last), problems: [], source: source))
        }
        #expect(state.queue.tracks.map(\.id.value) == expected.map { UInt64($0) })
    }

    private func missing(_ names: [String]) -> [MediaError] {
        names.map { MediaError(.notFound, SafeText($0), "no such file or folder") }
    }

    @Test func `all sources that failed are named, and the last is a line to be edited`() {
        let names = ["/m/a.mp3", "http://h/b%20c.mp3", "d.m3u"]
        var state = PlayerState(exitsAtEnd: false, startSources: names, seed: 1)
        let sources = ResolvedTracks(tracks: [], problems: missing(names))
        state.send(.launched(sources, start: nil, position: .zero))
        let texts = state.announcer.messages.map(\.text.string)
        #expect(texts.last == "Failed: a.mp3, b c.mp3, d.m3u" && texts.count == 4)
        #expect(state.announcer.messages.last?.failed == .add("d.m3u"))
        for name in names { _ = command(.add(name), &state) }
        for name in names { state.send(.added([], problems: missing([name]), source: name)) }
        #expect(state.announcer.messages.last?.text == "All failed: a.mp3, b c.mp3, d.m3u")
        #expect(state.announcer.messages.last?.failed == .add("d.m3u"))
        let many = missing((1...9).map { "\($0)" })
        var other = PlayerState(exitsAtEnd: false, startSources: ["x"], seed: 1)
        other.send(
            .launched(ResolvedTracks(tracks: numbered(1...1), problems: many), start: nil, position: .zero)
        )
        #expect(
            other.announcer.messages.contains {
                $0.text == "Failed: 1, 2, 3, 4, 5 and 4 more" && $0.failed == nil
            }
        )
    }

    @Test(
        arguments: [
            ("http://h/a%20b/S%C3%B6ng.mp3", "h/a b/Söng.mp3"), ("https://h:1/", "h:1/"),
            ("http://h/\(String(repeating: "deep/", count: 20))Last%20Song.mp3?…", "h/…/Last Song.mp3"),
            ("http://h/\(String(repeating: "x", count: 90))", "h/…/\(String(repeating: "x", count: 39))…"),
            ("/music/100%25.mp3", "/music/100%25.mp3"), ("file:///m/a%20b.mp3", "/m/a b.mp3"),
        ] as [(String, String)]
    )
    func `messages name a URL unescaped and briefly, and events as it is`(url: String, name: String) {
        var state = PlayerState.sounding(1, exitsAtEnd: false)
        let error = MediaError(.notFound, SafeText(url), "gone")
        let effects = state.send(.added([], problems: [error], source: url))
        #expect(state.announcer.messages.last?.text.string == name + ": gone")
        #expect(effects.contains(.emit(.notice(code: "not-found", message: error.safeText))))
    }

    @Test func `a pin names the track by the title that the queue shows`() {
        var state = PlayerState.sounding(1, exitsAtEnd: false)
        state.send(.infoChanged(1, .music(title: "River")))
        state.send(.pinned(state.queue.tracks, true))
        let text: SafeText = "Pinned \"River\" (never evicted), downloading what is missing"
        #expect(state.announcer.messages.last?.text == text)
    }

    private func added(_ numbers: [Int], _ state: inout PlayerState) {
        state.send(.added(numbered(numbers), problems: []), heard: 500, now: .seconds(1))
    }

    @Test func `a pasted list is undone in one step, and a later addition in its own`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        for source in ["a", "b", "c"] { _ = command(.add(source), &state) }
        added([3, 4], &state)
        added([], &state)
        added([5], &state)
        _ = command(.add("d"), &state)
        added([6], &state)
        #expect(command(.undo, &state).first == undone("Removed 1 track"))
        #expect(numbers(state) == [1, 2, 3, 4, 5])
        #expect(command(.undo, &state).first == undone("Removed 3 tracks"))
        #expect(numbers(state) == [1, 2])
        // The initial tracks are not a step.
        #expect(command(.undo, &state).count == 1 && numbers(state) == [1, 2])
    }

    @Test(arguments: [.undo, .move(3, to: 1)] as [PlayerCommand])
    func `if another step comes in the middle of a list, the rest of the list is a step of its own`(
        step: PlayerCommand
    ) {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        _ = command(.add("before"), &state)
        added([3], &state)
        for source in ["a", "b"] { _ = command(.add(source), &state) }
        added([4], &state)
        _ = command(step, &state)
        let before = numbers(state)
        added([5], &state)
        _ = command(.undo, &state)
        #expect(numbers(state) == before)
    }

    @Test func `a track that is playing stops when its addition is undone`() {
        var state = PlayerState.sounding(1, exitsAtEnd: false)
        _ = command(.add("a"), &state)
        added([2], &state)
        _ = command(.jump(2), &state)
        let effects = command(.undo, &state)
        #expect(effects.endsTrack)
        #expect(numbers(state) == [1] && state.queue.current == nil && state.snapshotState == .ended)
    }
}
