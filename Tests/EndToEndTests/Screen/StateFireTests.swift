import Foundation
import System
import TestSupport
import Testing

/// Whatever befalls the state of a session, the player starts, says what is wrong once, and loses no more
/// than the manual says.
@Suite(.serialized) struct StateFireTests {
    private let stage: Stage
    private let songs: [String]

    init() async throws {
        stage = try await Stage()
        let bytes = try await MP3Fixtures.bytes(.init(seconds: 40))
        songs = try ["first", "second"].map { [stage] in try stage.folder.write(bytes, to: "\($0).mp3") }
    }

    private var folder: String { stage.folder.path("state/reprise") }

    /// Starts the player in plain mode on a terminal of its own.
    private func start(
        _ words: [String] = [],
        _ faults: CallFaults? = nil,
        wrapper: [String] = []
    ) throws -> RunningProcess {
        let options = ["--plain", "--sink", "null", "--cache-dir", stage.cachePath]
        let words = wrapper + [BuiltProducts.reprise] + options + words
        return try RunningProcess(
            words[0],
            Array(words.dropFirst()),
            environment: stage.environment.merging(["TERM": "dumb"]) { $1 }
                .merging(faults?.environment ?? [:]) { $1 },
            folder: stage.folder.path,
            terminal: (80, 24)
        )
    }

    private func faults(_ kind: CallFaults.Kind? = nil, at place: Int = 0) throws -> CallFaults {
        try CallFaults(below: folder, in: stage.folder, fault: kind.map { ($0, place) })
    }

    /// Presses a key, and waits for its effect.
    private func press(_ key: String, until text: String, _ player: RunningProcess) async throws {
        let count = player.lines.count
        try player.type(key)
        try await player.waitForLine(from: count) { $0.contains(text) }
    }

    private func quit(_ player: RunningProcess) async throws {
        try player.type("q")
        #expect(try await player.waitForExit() == 0)
    }

    /// A session that ends with the second song paused at volume 95.
    private func leave() async throws {
        let player = try start(songs)
        try await player.waitForLine { $0.contains("Playing 1 of 2") }
        try await press(">", until: "Playing 2 of 2", player)
        try await press("-", until: "Volume 95 %", player)
        try await press(" ", until: "Paused at", player)
        try await quit(player)
    }

    /// The rows that the database in `folder` has now.
    private func saved<Value>(
        _ sql: String,
        at folder: String? = nil,
        _ row: (borrowing SQLiteRow) -> Value
    ) throws -> [Value] {
        try SQLiteConnection(path: (folder ?? self.folder) + "/state.sqlite").statement(sql).all(row: row)
    }

    private func savedVolume(at folder: String? = nil) throws -> Int64? {
        try saved("SELECT volume FROM session", at: folder) { $0.integer(0) }.first
    }

    /// A copy of the state in the folder at `path`, since SQLite opens nothing below `/proc/N/root`.
    private func copy(of path: String) throws -> String {
        let copy = stage.folder.path("seen-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try? FileManager.default.removeItem(atPath: copy + "/filler")
        return copy
    }

    /// A copy of the state's folder, or the text files of an earlier version with the same content.
    private func restore(asEarlierFiles: Bool) throws {
        try? FileManager.default.removeItem(atPath: folder)
        guard asEarlierFiles else {
            return try FileManager.default.copyItem(atPath: folder + "-copy", toPath: folder)
        }
        let tracks = songs.map { "track\t40000\t\($0)\t\t\n" }.joined()
        let texts = [
            "session": "reprise session 1\nqueue\t1\ncurrent\t1\nposition\t1000\npaused\nvolume\t95\nend\n",
            "queue": "reprise queue 1\nid\t1\n\(tracks)end\n", "episodes": "played\tf\t1\n",
        ]
        for (name, text) in texts { try stage.folder.write(text, to: "state/reprise/" + name) }
    }

    /// A session that lowers the volume twice; the faults may end it anywhere.
    private func lowerVolume(_ faults: CallFaults) async throws -> Int32 {
        let player = try start([], faults)
        for volume in [90, 85] {
            _ = try? await player.waitForLine { $0.contains("of 2: second") }
            if player.isRunning { try? await press("-", until: "Volume \(volume) %", player) }
        }
        if player.isRunning { try? player.type("q") }
        return try await player.waitForExit()
    }

    @Test(arguments: TestCount.seeds(50, full: 1_000))
    func `a player killed in the middle of a call leaves a whole state`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let isEarlier = seed % 2 == 1
        if !isEarlier {
            try await leave()
            try FileManager.default.copyItem(atPath: folder, toPath: folder + "-copy")
        }
        try restore(asEarlierFiles: isEarlier)
        let whole = try faults()
        #expect(try await lowerVolume(whole) == 0)
        #expect(try savedVolume() == 85)
        #expect(whole.count > 20)
        try restore(asEarlierFiles: isEarlier)
        let place = Int.random(in: 0..<whole.count, using: &random)
        let faults = try faults(.kill, at: place)
        let status = try await lowerVolume(faults)
        let subject = Comment(rawValue: "seed \(seed): killed at call \(place) of \(whole.count)")
        #expect(status == -SIGKILL || faults.count <= place, subject)

        let next = try start()
        try await next.waitForLine { $0.contains("Paused 2 of 2") }
        try await quit(next)
        #expect(!next.errorText.contains("state.sqlite"), "\(subject): \(next.errorText)")
        #expect([95, 90, 85].contains(try savedVolume()), subject)
        #expect(try saved("PRAGMA integrity_check") { $0.optionalText(0) } == ["ok"], subject)
        #expect(try saved("SELECT location FROM tracks") { $0.optionalText(0) } == songs, subject)
        if isEarlier { #expect(try saved("SELECT 1 FROM played") { $0.integer(0) } == [1], subject) }
    }

    @Test func `a change is saved a second later, even if the player is killed then`() async throws {
        try await leave()
        let player = try start()
        try await player.waitForLine { $0.contains("Paused 2 of 2") }
        try await press("-", until: "Volume 90 %", player)
        // The player is paused: nothing but the change itself makes it save.
        let begun = ContinuousClock.now
        try await wait(for: "the volume to be saved") { try savedVolume() == 90 }
        // A busy machine may need longer.
        #expect(ContinuousClock.now - begun < .seconds(5))
        player.signal(SIGKILL)
        #expect(try await player.waitForExit() == -SIGKILL)
        let next = try start()
        try await next.waitForLine { $0.contains("Paused 2 of 2") }
        try await press("-", until: "Volume 85 %", next)
        try await quit(next)
    }

    @Test func `on a full disk the session plays, the old state stays, and with room again it is saved`()
        async throws
    {
        try await leave()
        let script = """
            state=$1; shift
            cp -r "$state" "$state-copy"
            mount -t tmpfs -o size=256k,mode=700 none "$state"
            cp -r "$state-copy/." "$state"
            cat /dev/zero >"$state/filler" 2>/dev/null
            exec "$@"
            """
        let player = try start([], wrapper: PrivateMounts.running(script, folder))
        try await player.waitForLine { $0.contains("Paused 2 of 2") }
        let mounted = "/proc/\(player.processIdentifier)/root" + folder
        for volume in [90, 85] {
            try await press("-", until: "Volume \(volume) %", player)
            try await wait(for: "the message") { player.errorText.contains("can't save the session") }
        }
        #expect(try savedVolume(at: copy(of: mounted)) == 95)
        try FileManager.default.removeItem(atPath: mounted + "/filler")
        try await press("-", until: "Volume 80 %", player)
        try await wait(for: "the volume to be saved") { (try? savedVolume(at: copy(of: mounted))) == 80 }
        let sound = try saved("PRAGMA integrity_check", at: copy(of: mounted)) { $0.optionalText(0) }
        #expect(sound == ["ok"])
        try await quit(player)
        #expect(player.errorText.components(separatedBy: "can't save the session").count == 2)
        #expect(player.errorText.contains("full"), "\(player.errorText)")
    }

    @Test func `without locks the player starts at once, says so once, and leaves the state as it is`()
        async throws
    {
        try await leave()
        let path = folder + "/state.sqlite"
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let player = try start([songs[0]], faults(.noLocks))
        try await player.waitForLine { $0.contains("Playing 1 of 1") }
        // SQLite itself would have waited five seconds for the lock.
        #expect(player.errorText.contains("this session is not saved: No locks available"))
        try await press("-", until: "Volume 95 %", player)
        try await quit(player)
        #expect(player.errorText.components(separatedBy: "state.sqlite").count == 2, "\(player.errorText)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `two players at a time start, and lose neither's changes of positions and episodes`()
        async throws
    {
        let long = try await MP3Fixtures.bytes(
            .init(seconds: 1_260, rate: .constant(16), sampleRate: 16_000, isMono: true)
        )
        let books = try (0..<2).map { try stage.folder.write(long, to: "book\($0).mp3") }
        for round in 1...3 {
            let players = try books.map { try start([$0]) }
            for player in players { try await player.waitForLine { $0.contains("Playing 1 of 1") } }
            for (number, player) in players.enumerated() {
                try player.type(":seek \(round + number * 10):00\n")
                try await player.waitForLine { $0.contains("At \(round + number * 10):0") }
                try player.type(":volume \(50 + round)\n")
                try await player.waitForLine { $0.contains("Volume \(50 + round) %") }
            }
            for player in players { try player.type("q") }
            for player in players {
                #expect(try await player.waitForExit() == 0)
                #expect(!player.errorText.contains("state.sqlite"), "\(player.errorText)")
            }
            for (number, book) in books.enumerated() {
                let positions = try saved("SELECT key, position FROM places") { row in
                    row.optionalText(0) == book ? row.integer(1) : nil
                }
                let minutes = Int64(round + number * 10)
                let position = positions.compactMap { $0 }.first ?? 0
                #expect((minutes * 60_000..<minutes * 60_000 + 50_000).contains(position), "round \(round)")
            }
            #expect(try savedVolume() == Int64(50 + round))
        }
        #expect(try saved("PRAGMA integrity_check") { $0.optionalText(0) } == ["ok"])
        let next = try start()
        try await next.waitForLine { $0.contains("of 1: book") }
        try await quit(next)
    }
}
