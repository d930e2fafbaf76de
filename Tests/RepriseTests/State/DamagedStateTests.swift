import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite struct DamagedStateTests {
    private let home: TemporaryFolder
    private let folder: StateFolder

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(path: home.path("state"))
    }

    private func bytes() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)))
    }

    /// Plays a session of which all is saved that can be. Returns its reports, first that of the start.
    private func play() async throws -> [String] {
        let clock = TestClock()
        let memory = SessionMemory(folder: folder, options: try Options.parsed(), clock: clock)
        let reports = Locked<[MediaError]>([])
        let player = RecordingPlayer()
        memory.watch(player) { error in reports.withLock { $0.append(error) } }
        var snapshot = PlayerSnapshot()
        snapshot.tracks = [Track(id: Track.ID(0), location: .file("/music/new.mp3"))]
        snapshot.state = .playing
        snapshot.currentIndex = 0
        snapshot.duration = .seconds(3_600)
        for volume in 1...3 {
            snapshot.volume = volume
            snapshot.position = .seconds(60 * volume)
            player.show(snapshot)
            clock.advance(by: .seconds(1))
        }
        memory.remember("next")
        memory.setPlayed(
            true,
            [Episode(feed: "/feed", guid: "\(UInt64.random(in: 0 ... .max))", date: nil, place: 0)]
        )
        await memory.finish()
        #expect(reports.withLock { $0.allSatisfy { $0.code == .badState } })
        return reports.withLock { $0.map(\.description) }
    }

    /// Saves a state of some twenty pages.
    private func fill() throws {
        let tracks = (0..<300).map { number in
            Track(
                id: Track.ID(UInt64(number)),
                location: .file("/music/an album with a name/track \(number).mp3"),
                tags: TrackTags(title: SafeText("Title \(number)"))
            )
        }
        try folder.change { tables in
            try tables.save(SavedQueue(id: "1", tracks: tracks), over: SavedQueue())
            for number in 0..<200 {
                try tables.setPlace(.seconds(number), of: "/music/place \(number)")
                try tables.setPlayed(true, "http://feed.example/\u{0}\(number)")
                try tables.addLine("add \(number)")
            }
        }
    }

    @Test(arguments: TestCount.seeds(4, full: 200))
    func `with noise in any page the player starts, says so once, and leaves a damaged state as it is`(
        seed: UInt64
    ) async throws {
        try fill()
        let sound = try bytes()
        let pageSize = 4_096
        let count = sound.count / pageSize
        #expect(count >= 20)
        var random = SeededGenerator(seed: seed)
        var damagedCount = 0
        for page in 0..<count {
            // A whole page, its first bytes, or any part of it.
            let whole = page * pageSize..<(page + 1) * pageSize
            let start = seed % 3 == 2 ? Int.random(in: whole, using: &random) : whole.lowerBound
            let end =
                seed % 3 == 0
                ? whole.upperBound : Int.random(in: (start + 1)...whole.upperBound, using: &random)
            var noisy = sound
            for place in start..<end { noisy[place] = .random(in: 0...255, using: &random) }
            try home.write(noisy, to: "state/state.sqlite")
            let subject = Comment(rawValue: "seed \(seed), page \(page), bytes \(start)..<\(end)")
            let starting = SessionMemory(folder: folder, options: try Options.parsed(), clock: TestClock())
            let reports = try await play()
            #expect(reports.count <= 1, subject)
            guard starting.problem != nil else { continue }
            damagedCount += 1
            #expect(reports.count == 1 && reports[0].contains("this session is not saved"), subject)
            #expect(try bytes() == noisy, subject)
            #expect(starting.last == SavedState(), subject)
        }
        #expect(damagedCount > count / 4, "seed \(seed)")
    }

    @Test func `a state whose file format is unknown is left as it is, and that is said once`() async throws {
        try fill()
        var noisy = try bytes()
        // The schema format number (sqlite.org/fileformat.html), for which SQLite has no code of its own.
        noisy[47] = 200
        try home.write(noisy, to: "state/state.sqlite")
        let reports = try await play()
        #expect(reports.count == 1 && reports[0].hasSuffix("unsupported file format – move the file away"))
        #expect(try bytes() == noisy)
    }

    @Test func `a state that is no database is left as it is`() async throws {
        try home.write(
            "rubbish, but longer than a hundred bytes: " + String(repeating: "x", count: 99),
            to: "state/state.sqlite"
        )
        let before = try bytes()
        for _ in 0..<2 {
            let reports = try await play()
            #expect(
                reports == [
                    "\(folder.databasePath): this session is not saved: file is not a database – move the file away"
                ]
            )
        }
        #expect(try bytes() == before)
    }

    @Test func `a state of a newer version is left as it is`() async throws {
        try fill()
        try SQLiteConnection(path: folder.databasePath).execute("PRAGMA user_version = 2")
        let before = try bytes()
        let reports = try await play()
        #expect(
            reports == [
                "\(folder.databasePath): this session is not saved: a newer version made it – use that version"
            ]
        )
        #expect(try bytes() == before)
    }

    @Test func `a state that a newer version takes over meanwhile is left as it is`() async throws {
        try fill()
        let clock = TestClock()
        let memory = SessionMemory(folder: folder, options: try Options.parsed(), clock: clock)
        let reports = Locked<[MediaError]>([])
        memory.watch(RecordingPlayer()) { error in reports.withLock { $0.append(error) } }
        try SQLiteConnection(path: folder.databasePath).execute("PRAGMA user_version = 2")
        let before = try bytes()
        memory.remember("next")
        memory.remember("stop")
        await memory.finish()
        #expect(reports.withLock { $0.map(\.code) } == [.badState])
        #expect(try bytes() == before)
    }

    @Test func `after the file was removed, the session is saved to a new one`() async throws {
        try fill()
        let clock = TestClock()
        let memory = SessionMemory(folder: folder, options: try Options.parsed(), clock: clock)
        let player = RecordingPlayer()
        memory.watch(player) { _ in }
        var snapshot = PlayerSnapshot()
        snapshot.tracks = memory.last.queue.tracks
        player.show(snapshot)
        try await wait(for: "the session") { try folder.read { try $0.queue() }.tracks == snapshot.tracks }
        try FileManager.default.removeItem(atPath: folder.databasePath)
        await memory.finish()
        #expect(try folder.read { try $0.queue() }.tracks.count == 300)
    }
}
