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

    private static func snapshot(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        snapshot.state = .playing
        snapshot.tracks = (0..<3).map { Track(id: Track.ID($0), location: .file("/music/\($0).mp3")) }
        snapshot.currentIndex = 1
        snapshot.position = .seconds(45)
        snapshot.duration = .seconds(3_600)
        snapshot.volume = 65
        change(&snapshot)
        return snapshot
    }

    /// A session in which `player` showed these snapshots and then ended.
    private func play(_ snapshots: [PlayerSnapshot], memory: SessionMemory? = nil) async throws {
        let memory = try memory ?? self.memory()
        let player = StillPlayer()
        memory.watch(player) { _ in }
        for snapshot in snapshots { player.show(snapshot) }
        player.show(PlayerSnapshot.over)
        await memory.finish()
    }

    @Test func `the next session knows the queue, the place in it, the volume and the modes`() async throws {
        try await play([
            Self.snapshot {
                $0.repeatMode = .all
                $0.isShuffled = true
                $0.gainMode = .track
            }
        ])
        let next = try memory()
        #expect(
            next.last.queue.tracks.map(\.location.savedText) == [
                "/music/0.mp3", "/music/1.mp3", "/music/2.mp3",
            ]
        )
        #expect(next.last.place?.index == 1 && next.last.place?.position == .seconds(45))
        #expect(
            next.last.session.volume == 65 && next.last.session.repeatMode == .all
                && next.last.session.isShuffled
        )
        #expect(next.last.session.gainMode == .track && !next.last.session.isPaused && next.problems.isEmpty)
        // A snapshot after the end has no position; the one before has.
        #expect(next.resumePoint(of: next.last.queue.tracks[1]) == .seconds(45))
    }

    @Test func `a fresh session ignores the last one, and is saved itself`() async throws {
        try await play([Self.snapshot()])
        let fresh = try memory("--fresh")
        #expect(
            fresh.last.queue.tracks.isEmpty && fresh.last.place == nil && fresh.last.session == SavedSession()
        )
        #expect(fresh.resumePoint(of: Self.snapshot().tracks[1]) == nil)
        try await play([Self.snapshot { $0.volume = 10 }], memory: fresh)
        #expect(try memory().last.session.volume == 10)
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
        try await play([
            Self.snapshot {
                $0.state = .ended
                $0.currentIndex = 2
            }
        ])
        let next = try memory()
        #expect(
            next.last.place?.index == 0 && next.last.place?.position == .zero && next.last.session.isPaused
        )
    }

    @Test func `the position in another queue does not count`() async throws {
        try await play([Self.snapshot()])
        // The other player had just written its queue when the power failed.
        let other = SavedQueue(id: "other", tracks: Self.snapshot().tracks)
        try folder.write(other.text, to: "queue")
        #expect(try memory().last.queue.tracks.count == 3 && memory().last.place == nil)
    }

    @Test(arguments: ["session", "queue"])
    func `a damaged file is set aside with a notice, and the others are used`(name: String) async throws {
        try await play([Self.snapshot()])
        try folder.write("reprise \(name) 1\nrubbish", to: name)
        let next = try memory()
        #expect(next.problems.map(\.code) == [.badState])
        #expect(next.problems[0].description.contains("/\(name).bad"))
        #expect(try folder.read(name + ".bad")?.contains("rubbish") == true)
        #expect(name == "queue" ? next.last.session.volume == 65 : next.last.queue.tracks.count == 3)
        #expect(try memory().problems.isEmpty)
    }

    @Test func `a folder that cannot be written is reported once`() async throws {
        try home.write("a file", to: "state")
        let memory = try memory()
        let told = Locked<[MediaError]>([])
        let player = StillPlayer()
        memory.watch(player) { error in told.withLock { $0.append(error) } }
        player.show(Self.snapshot())
        player.show(Self.snapshot { $0.volume = 1 })
        await memory.finish()
        #expect(told.withLock { $0.map(\.code) } == [.badState])
    }

    @Test func `servers of the command line stay trusted with the queue that came from them`() async throws {
        try await play([Self.snapshot()], memory: memory("https://me:pw@h.example/a.m3u8"))
        #expect(try memory().trustedOrigins == ["https://h.example/"])
        try await play([Self.snapshot()])
        #expect(try memory().trustedOrigins == ["https://h.example/"])
        // A header that is typed for another server is not for them.
        #expect(try memory("http://other.example/a").trustedOrigins == ["http://other.example/"])
    }

    @Test func `lines are remembered in the order in which they were typed`() async throws {
        let first = try memory()
        for line in ["next", "stop"] { first.remember(line) }
        await first.finish()
        #expect(try memory().history == ["next", "stop"])
    }
}

/// A player whose snapshots the test sets.
private final class StillPlayer: PlayerControl {
    private let shown = Locked(PlayerSnapshot())
    private let observers = Locked<[@Sendable () -> Void]>([])

    func send(_ command: PlayerCommand) {}
    var snapshot: PlayerSnapshot { shown.withLock { $0 } }
    func observe(_ observer: @escaping @Sendable () -> Void) { observers.withLock { $0.append(observer) } }

    func show(_ snapshot: PlayerSnapshot) {
        shown.withLock { $0 = snapshot }
        for observer in observers.withLock({ $0 }) { observer() }
    }
}

extension PlayerSnapshot {
    fileprivate static var over: PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        snapshot.isOver = true
        return snapshot
    }
}
