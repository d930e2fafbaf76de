import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite struct SessionMemoryTests {
    private let home: TemporaryFolder
    private let folder: StateFolder
    private let clock = TestClock()

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(path: home.path("state"))
    }

    private func memory(_ arguments: String...) throws -> SessionMemory {
        SessionMemory(folder: folder, options: try Options.parsed(arguments), clock: clock)
    }

    /// What the database says now.
    private func saved() throws -> SavedState { try folder.read { try SavedState($0, isContinued: true) } }

    private static func snapshot(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        snapshot.tracks = (0..<3).map { Track(id: Track.ID($0), location: .file("/music/\($0).mp3")) }
        snapshot.state = .playing
        snapshot.currentIndex = 1
        snapshot.volume = 65
        snapshot.position = .seconds(45)
        snapshot.duration = .seconds(3_600)
        change(&snapshot)
        return snapshot
    }

    /// A session in which `player` showed these snapshots and then ended.
    private func play(_ snapshots: [PlayerSnapshot], memory: SessionMemory? = nil) async throws {
        let memory = try memory ?? self.memory()
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        for snapshot in snapshots { player.show(snapshot) }
        var over = PlayerSnapshot()
        over.isOver = true
        player.show(over)
        await memory.finish()
    }

    @Test func `the next session knows the queue, the place in it, the volume and the modes`() async throws {
        try await play([
            Self.snapshot { snapshot in
                snapshot.repeatMode = .all
                snapshot.isShuffled = true
                snapshot.gainMode = .track
                snapshot.device = "usb"
            }
        ])
        let next = try memory()
        let last = next.last
        let session = next.last.session
        #expect(last.queue.tracks.map(\.location.savedText) == (0..<3).map { "/music/\($0).mp3" })
        #expect(last.place?.index == 1 && last.place?.position == .seconds(45))
        #expect(session.volume == 65 && session.modes.repeatMode == .all && session.modes.isShuffled)
        #expect(session.device == "usb")
        #expect(session.modes.gainMode == .track && !session.isPaused && next.problem == nil)
        // A snapshot after the end has no position; the one before has.
        #expect(next.resumePoint(of: next.last.queue.tracks[1]) == .seconds(45))
    }

    @Test(arguments: [3_600, 200]) func `the next session knows what was heard of the track it continues`(
        seconds: Int
    ) async throws {
        let parts = HeardSpans([.milliseconds(1_500)..<(.seconds(9)), .seconds(40)..<(.seconds(45))])
        try await play([
            Self.snapshot { snapshot in
                snapshot.duration = .seconds(seconds)
                snapshot.heard = parts
            }
        ])
        let next = try memory()
        #expect(next.heardParts(of: next.last.queue.tracks[1]) == parts)
        #expect(next.heardParts(of: next.last.queue.tracks[0]) == HeardSpans())
        // A track that was played to its end begins anew.
        try await play([Self.snapshot { $0.state = .ended }])
        let last = try memory()
        let isLong = seconds == 3_600
        #expect(last.heardParts(of: last.last.queue.tracks[1]) == (isLong ? parts : HeardSpans()))
    }

    @Test func `the next session knows the titles and lengths that were learned, also those learned last`()
        async throws
    {
        let memory = try memory()
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        player.show(Self.snapshot { $0.tracks[2].duration = .seconds(9) })
        clock.advance(by: SavePace.interval)
        let facts = TrackFacts(
            tags: TrackTags(title: "Episode 43", artist: "A"),
            duration: .milliseconds(1_800_250)
        )
        player.show(
            Self.snapshot {
                $0.tracks[2].duration = .seconds(9)
                $0.learned = [Track.ID(1): facts]
            }
        )
        // Saved without waiting for the end of the session, or for a change of the position.
        try await wait(for: "the queue") { try saved().queue.tracks.last?.duration == .seconds(9) }
        try await wait(for: "the title") { try saved().queue.tracks[1].tags.title == "Episode 43" }
        await memory.finish()
        let tracks = try self.memory().last.queue.tracks
        #expect(tracks[1].tags.title == "Episode 43" && tracks[1].tags.artist == "A")
        #expect(tracks.map(\.duration) == [nil, .milliseconds(1_800_250), .seconds(9)])
    }

    @Test
    func
        `a change of a player that then does nothing is saved within a second, a title within half a minute`()
        async throws
    {
        let memory = try memory()
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        player.show(Self.snapshot { $0.state = .paused })
        try await wait(for: "the session") { try saved().session.volume == 65 }
        clock.advance(by: .milliseconds(200))
        player.show(Self.snapshot { ($0.state, $0.volume) = (.paused, 10) })
        try await wait(for: "a look") { clock.sleeperCount == 1 }
        #expect(clock.nextWake == .seconds(1))
        clock.advance(to: .seconds(1))
        try await wait(for: "the volume") { try saved().session.volume == 10 }
        let facts = TrackFacts(tags: TrackTags(title: "learned"))
        player.show(Self.snapshot { ($0.state, $0.volume, $0.learned) = (.paused, 10, [Track.ID(1): facts]) })
        try await wait(for: "a look") { clock.sleeperCount == 1 }
        // A change comes before it.
        player.show(Self.snapshot { ($0.state, $0.volume, $0.learned) = (.paused, 20, [Track.ID(1): facts]) })
        try await wait(for: "another look") { clock.sleeperCount == 2 }
        clock.advance(to: .seconds(2))
        try await wait(for: "both") { try saved().queue.tracks[1].tags.title == "learned" }
        #expect(try saved().session.volume == 20)
        player.show(
            Self.snapshot {
                ($0.state, $0.volume) = (.paused, 20)
                $0.learned = [Track.ID(1): TrackFacts(tags: TrackTags(title: "last"))]
            }
        )
        await memory.finish()
        #expect(try saved().queue.tracks[1].tags.title == "last")
    }

    @Test(arguments: [PlayerSnapshot.State.playing, .paused])
    func `a seek is saved soon, and playing on is not`(state: PlayerSnapshot.State) throws {
        var pace = SavePace()
        /// The time at which the session is due, in seconds.
        func due(at position: Int, _ time: Double) -> Duration? {
            let snapshot = Self.snapshot { ($0.state, $0.position) = (state, .seconds(position)) }
            return pace.due(snapshot, at: .seconds(time))
        }
        #expect(due(at: 45, 0) == .zero)
        let isMoving = state == .playing
        #expect(due(at: isMoving ? 48 : 45, 3) == (isMoving ? .seconds(30) : nil))
        #expect(due(at: 1_860, 5) == .seconds(5), "forward")
        #expect(due(at: 1_855, 5.5) == .seconds(6), "within a second of the last save")
        #expect(due(at: 1_856, 7) == .seconds(7), "back")
        #expect(due(at: 1_857, 10) == (isMoving ? .seconds(37) : nil))
    }

    @Test func `the place of paused music is on the disk before the machine sleeps`() async throws {
        let memory = try memory()
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        player.show(Self.snapshot())
        await memory.saveNow()
        // Too soon for another save by itself.
        clock.advance(by: .milliseconds(500))
        player.show(
            Self.snapshot {
                $0.position = .seconds(54)
                $0.state = .paused
            }
        )
        #expect(try saved().place?.position == .seconds(45))
        await memory.saveNow()
        #expect(try saved().place?.position == .seconds(54))
        await memory.finish()
        await memory.saveNow()
    }

    @Test func `a queue of which nothing new is known is not written again`() async throws {
        let memory = try memory()
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        let snapshot = Self.snapshot { $0.learned = [Track.ID(1): TrackFacts(duration: .seconds(9))] }
        var ids: Set<String> = []
        for volume in 1...3 {
            var snapshot = snapshot
            snapshot.volume = volume
            player.show(snapshot)
            clock.advance(by: .seconds(3))
            try await wait(for: "the session") { try saved().session.volume == volume }
            ids.insert(try saved().queue.id)
        }
        await memory.finish()
        #expect(ids.count == 1)
    }

    @Test func `a fresh session ignores the last one, and replaces it once it has played for a minute`()
        async throws
    {
        try await play([Self.snapshot()])
        let track = Self.snapshot().tracks[1]
        for seconds in [59, 60] {
            let fresh = try memory("--fresh")
            #expect(fresh.last.queue.tracks.isEmpty && fresh.last.place == nil)
            #expect(fresh.last.session == SavedSession())
            #expect(fresh.resumePoint(of: track) == nil)
            let player = RecordingPlayer()
            fresh.watch(player) { _ in }
            // The same long track again, from its beginning, with a pause that does not count.
            let steps: [(PlayerSnapshot.State, Int)] = [
                (.playing, 30), (.paused, 100), (.playing, seconds - 30), (.playing, 0),
            ]
            for (state, length) in steps {
                player.show(Self.snapshot { ($0.state, $0.position, $0.volume) = (state, .seconds(35), 10) })
                clock.advance(by: .seconds(length))
            }
            await fresh.finish()
            let next = try memory()
            #expect(next.last.session.volume == (seconds < 60 ? 65 : 10))
            #expect(next.resumePoint(of: track) == .seconds(seconds < 60 ? 45 : 35))
        }
    }

    @Test func `sources without a track leave the saved queue unchanged`() async throws {
        try await play([Self.snapshot()])
        try await play([Self.snapshot { $0.tracks = [] }])
        #expect(try memory().last.queue.tracks.count == 3)
        // A queue that the user has cleared is saved as empty.
        try await play([Self.snapshot(), Self.snapshot { $0.tracks = [] }])
        #expect(try memory().last.queue.tracks.isEmpty)
    }

    @Test func `a queue that was played to its end restarts paused`() async throws {
        try await play([Self.snapshot { ($0.state, $0.currentIndex) = (.ended, 2) }])
        let last = try memory().last
        #expect(last.place?.index == 0 && last.place?.position == .zero && last.session.isPaused)
    }

    @Test func `a folder that cannot be written is reported once`() async throws {
        try home.write("a file", to: "state")
        let memory = try memory()
        let reports = Locked<[MediaError]>([])
        let player = RecordingPlayer()
        memory.watch(player) { error in reports.withLock { $0.append(error) } }
        player.show(Self.snapshot())
        player.show(Self.snapshot { $0.volume = 1 })
        await memory.finish()
        #expect(reports.withLock { $0.map(\.code) } == [.badState])
    }

    @Test func `after a start with a locked state, its queue and positions stay, and the rest is saved`()
        async throws
    {
        try await play([Self.snapshot()])
        let place = try #require(try self.memory().resumePoint(of: Self.snapshot().tracks[1]))
        let other = try SQLiteConnection(path: folder.databasePath)
        try other.execute("BEGIN EXCLUSIVE")
        let memory = try memory()
        try other.execute("ROLLBACK")
        #expect(memory.last == SavedState())
        let reports = Locked<[MediaError]>([])
        let player = RecordingPlayer()
        memory.watch(player) { error in reports.withLock { $0.append(error) } }
        player.show(
            Self.snapshot {
                $0.tracks.removeLast()
                ($0.volume, $0.position) = (1, .seconds(100))
            }
        )
        memory.remember("next")
        memory.setPlayed(true, [Self.episode("1")])
        await memory.finish()
        #expect(
            reports.withLock { $0.map(\.description) } == [
                "\(folder.databasePath): this session is not saved: database is locked"
            ]
        )
        let next = try self.memory()
        #expect(next.last.queue.tracks.count == 3 && next.last.session.volume == 65)
        // What was heard within a minute does not replace a position that could not be read.
        #expect(next.resumePoint(of: Self.snapshot().tracks[1]) == place && place != .seconds(100))
        #expect(next.isPlayed(Self.episode("1")) && next.last.history == ["next"])
    }

    @Test func `what could not be saved is saved with the next change`() async throws {
        let memory = try memory()
        try home.makeFolder("state/state.sqlite")
        let reports = Locked<[MediaError]>([])
        let player = RecordingPlayer()
        memory.watch(player) { error in reports.withLock { $0.append(error) } }
        memory.remember("next")
        memory.setPlayed(true, [Self.episode("1")])
        player.show(try Self.snapshot(of: Self.episode("2"), at: "http://h.example/2.mp3"))
        try await wait(for: "the failure") { reports.withLock { !$0.isEmpty } }
        memory.setPlayed(true, [Self.episode("3")])
        memory.setPlayed(false, [Self.episode("1")])
        memory.remember("stop")
        try FileManager.default.removeItem(atPath: folder.databasePath)
        await memory.finish()
        let state = try saved()
        #expect(state.history == ["next", "stop"] && state.played == [Self.episode("3").key])
        #expect(state.queue.tracks.count == 1 && reports.withLock { $0.count } == 1)
    }

    @Test func `changes that wait for a lock are saved together`() async throws {
        let memory = try memory()
        try folder.change { _ in }
        /// The number of transactions, from the file's header (sqlite.org/fileformat.html).
        func transactionCount() throws -> Int {
            let header = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))[24..<28]
            return header.reduce(0) { $0 << 8 | Int($1) }
        }
        let before = try transactionCount()
        let other = try SQLiteConnection(path: folder.databasePath)
        try other.execute("BEGIN IMMEDIATE")
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        player.show(Self.snapshot())
        for number in 0..<10 { memory.remember("\(number)") }
        try other.execute("ROLLBACK")
        await memory.finish()
        // The one that waited, one for the changes since then, and that of the end.
        #expect(try (1...3).contains(transactionCount() - before))
        #expect(try self.memory().last.history == (0..<10).map { "\($0)" })
    }

    @Test func `servers of the command line stay trusted with the queue that came from them`() async throws {
        try await play([Self.snapshot()], memory: memory("https://me:pw@h.example/a.m3u8"))
        #expect(try memory().trustedOrigins == ["https://h.example/"])
        try await play([Self.snapshot()])
        #expect(try memory().trustedOrigins == ["https://h.example/"])
        // A header that is typed for another server is not for them.
        #expect(try memory("http://other.example/a").trustedOrigins == ["http://other.example/"])
        // A download that goes on still needs its log-in.
        let download = try Self.download()
        try await play([Self.snapshot { $0.downloads = [download] }])
        let both = ["http://other.example/", "https://h.example/"]
        #expect(try memory("http://other.example/a").trustedOrigins == both)
        #expect(try memory("https://h.example/b").trustedOrigins == ["https://h.example/"])
    }

    @Test func `so do the servers of what was added, which the next session asks for a log-in`() async throws
    {
        let memory = try memory("https://h.example/a.m3u8")
        for source in [
            "http://other.example:8000/b.mp3", "http://other.example:8000/c/", "https://h.example/d",
        ] {
            memory.added(try #require(WebURL(source)))
        }
        try await play([Self.snapshot()], memory: memory)
        #expect(try self.memory().trustedOrigins == ["https://h.example/", "http://other.example:8000/"])
    }

    private static func download() throws -> DownloadReport {
        let url = try #require(WebURL("https://h.example/d.mp3"))
        return DownloadReport(Track(id: Track.ID(9), location: .web(url)))
    }

    @Test func `downloads that ended with an empty queue do not begin again`() async throws {
        let download = try Self.download()
        let downloading = Self.snapshot { ($0.tracks, $0.downloads) = ([], [download]) }
        try await play([downloading])
        #expect(try memory().last.session.downloads.count == 1)
        try await play([downloading, Self.snapshot { $0.tracks = [] }])
        #expect(try memory().last.session.downloads.isEmpty)
        // The queue of a session whose sources have no track now stays.
        try await play([Self.snapshot()])
        try await play([downloading])
        #expect(try memory().last.queue.tracks.count == 3)
    }

    private static func episode(_ guid: String, of feed: String = "http://h.example/feed") -> Episode {
        Episode(feed: feed, guid: guid, date: nil, place: 0)
    }

    /// A queue of one episode, which is the current track.
    private static func snapshot(of episode: Episode, at url: String) throws -> PlayerSnapshot {
        let location = ResourceLocation.web(try #require(WebURL(url)))
        return snapshot {
            $0.tracks = [Track(id: Track.ID(5), location: location, episode: episode)]
            ($0.currentIndex, $0.duration) = (0, .seconds(600))
        }
    }

    @Test func `the position of an episode follows it to another URL, but not to another feed`() async throws
    {
        try await play([try Self.snapshot(of: Self.episode("1"), at: "http://cdn.example/old.mp3")])
        let next = try memory()
        let moved = try Self.snapshot(of: Self.episode("1"), at: "http://new.example/1.mp3").tracks[0]
        #expect(next.resumePoint(of: moved) == .seconds(45))
        #expect(next.last.queue.tracks[0].episode == Self.episode("1"))
        let old = "http://cdn.example/old.mp3"
        for other in [Self.episode("2"), Self.episode("1", of: "http://h.example/other")] {
            #expect(next.resumePoint(of: try Self.snapshot(of: other, at: old).tracks[0]) == nil)
        }
    }

    @Test func `played episodes are remembered, and begin at their start`() async throws {
        let first = Self.episode("1")
        let second = Self.episode("2")
        let current = try Self.snapshot(of: first, at: "http://cdn.example/1.mp3")
        let now = try memory()
        now.setPlayed(true, [first, second])
        now.setPlayed(false, [second])
        try await play([current], memory: now)
        // `--fresh` ignores the last session, but not what was played.
        for next in [try memory(), try memory("--fresh")] {
            #expect(next.isPlayed(first) && !next.isPlayed(second))
            #expect(!next.isPlayed(Self.episode("1", of: "http://h.example/other")))
        }
        let next = try memory()
        #expect(next.resumePoint(of: current.tracks[0]) == .seconds(45))
        next.setPlayed(true, [first])
        #expect(next.resumePoint(of: current.tracks[0]) == nil)
    }

    @Test func `two players add to what was played without undoing each other's changes`() async throws {
        let one = try memory()
        let two = try memory()
        for number in 0..<50 {
            one.setPlayed(true, [Self.episode("a\(number)")])
            two.setPlayed(true, [Self.episode("b\(number)")])
        }
        await one.finish()
        await two.finish()
        let next = try memory()
        for number in 0..<50 {
            #expect(next.isPlayed(Self.episode("a\(number)")) && next.isPlayed(Self.episode("b\(number)")))
        }
    }

    @Test func `a session that is not saved knows what was played, and changes nothing`() async throws {
        func script() throws -> SessionMemory {
            SessionMemory(folder: folder, options: try .parsed(), isInteractive: false, clock: clock)
        }
        #expect(try !script().isPlayed(Self.episode("1")))
        try await play([try Self.snapshot(of: Self.episode("2"), at: "http://h/2.mp3")], memory: script())
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let first = try memory()
        first.setPlayed(true, [Self.episode("1")])
        try await play([try Self.snapshot(of: Self.episode("2"), at: "http://h/2.mp3")], memory: first)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        let saved = try script()
        saved.setPlayed(true, [Self.episode("2")])
        #expect(saved.isPlayed(Self.episode("1")) && !saved.isPlayed(Self.episode("2")))
        let track = try Self.snapshot(of: Self.episode("2"), at: "http://h/2.mp3").tracks[0]
        #expect(saved.last.queue.tracks.isEmpty && saved.resumePoint(of: track) == nil)
        try await play([Self.snapshot()], memory: saved)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)) == bytes)
        // A damaged state is ignored.
        try home.write("rubbish", to: "state/state.sqlite")
        #expect(try !script().isPlayed(Self.episode("1")))
    }

    @Test func `two players keep each other's positions, and the queue of the last one to write`()
        async throws
    {
        let one = try memory()
        let two = try memory()
        let long = { (number: Int, seconds: Int) in
            Self.snapshot { ($0.currentIndex, $0.position) = (number, .seconds(seconds)) }
        }
        try await play([long(0, 100)], memory: one)
        try await play([long(2, 200)], memory: two)
        let next = try memory()
        let tracks = Self.snapshot().tracks
        #expect(next.resumePoint(of: tracks[0]) == .seconds(100))
        #expect(next.resumePoint(of: tracks[2]) == .seconds(200))
        #expect(next.last.place?.index == 2)
    }

    @Test func `lines are remembered in the order in which they were typed`() async throws {
        let first = try memory()
        for line in ["next", "stop"] { first.remember(line) }
        await first.finish()
        #expect(try memory().last.history == ["next", "stop"])
    }
}

/// A player that records its commands, and whose snapshots the test sets.
final class RecordingPlayer: PlayerControl {
    private let shown = Locked(PlayerSnapshot())
    private let changes = Observers<Void>()
    private let events = Observers<PlayerEvent>()
    private let received = Locked<[PlayerCommand]>([])
    private let scripted = Locked<[PlayerCommand]>([])

    var commands: [PlayerCommand] { received.withLock { $0 } }
    /// The commands that take their turn.
    var turns: [PlayerCommand] { scripted.withLock { $0 } }

    func send(_ command: PlayerCommand) { received.withLock { $0.append(command) } }
    func sendInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) {
        scripted.withLock { $0.append(command) }
        answer(.answered(isAccepted: true))
    }
    func offerInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) -> Bool {
        sendInTurn(command, answer: answer)
        return true
    }

    var snapshot: PlayerSnapshot { shown.withLock { $0 } }
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation { changes.add { observer() } }
    func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) -> Observation {
        events.add(observer)
    }
    func watchSound(_ isWatched: Bool) {}
    var soundPicture: SoundPicture? { nil }

    func show(_ snapshot: PlayerSnapshot) {
        shown.withLock { $0 = snapshot }
        changes.send(())
    }
}
