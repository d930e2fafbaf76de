import Media
import System

/// The tables of the state: the last session with its queue, and what is known of tracks and episodes.
///
/// The file may be damaged, so reading throws for a value that no session could have written.
final class StateTables {
    let connection: SQLiteConnection
    /// The tables with new rows, which `trim` has not looked at yet.
    private var grown: Set<String> = []

    /// The format of the tables. It is raised when they change.
    static let format: Int64 = 1
    /// The most rows of the tables that grow.
    private static let limits = ["places": 500, "heard": 501, "history": 500, "played": 50_000]

    init(connection: SQLiteConnection) { self.connection = connection }

    // MARK: The format

    /// `true` if there are no tables yet. Throws if they have a newer format.
    func isNew() throws -> Bool {
        let format = try connection.statement("PRAGMA user_version").first { $0.integer(0) } ?? 0
        guard format <= Self.format else { throw NewerStateError() }
        if format <= 0,
            try connection.statement("SELECT 1 FROM sqlite_schema").first(row: { _ in true }) != nil
        {
            throw Self.damage("it has no format")
        }
        return format <= 0
    }

    /// Makes the tables, and fills them from the text files of earlier versions in the folder at `path`.
    func make(takingOver path: String) throws {
        try connection.execute(Self.tables + "PRAGMA user_version = \(Self.format)")
        try EarlierFiles.takeOver(from: path, into: self)
        grown.formUnion(Self.limits.keys)
        try trim()
    }

    /// Drops the oldest rows beyond the limits. That walks the whole table, so only tables that have grown
    /// are trimmed.
    func trim() throws {
        for (table, most) in Self.limits where grown.remove(table) != nil {
            let last = "(SELECT rowid FROM \(table) ORDER BY rowid DESC LIMIT 1 OFFSET \(most))"
            try connection.execute("DELETE FROM \(table) WHERE rowid <= \(last)")
        }
    }

    static func damage(_ message: String) -> SQLiteError { SQLiteError(code: .corrupt, message: message) }

    // MARK: The session and its queue

    func session() throws -> SavedSession {
        let sql = "SELECT current, position, paused, volume, repeat, shuffled, gain FROM session"
        let row = try connection.statement(sql).first { row in
            var session = SavedSession()
            session.current = row.isNull(0) ? nil : Int(try row.number(0, in: 0...Int64(Int32.max)))
            session.position = row.time(1)
            session.isPaused = row.integer(2) != 0
            session.volume = Int(try row.number(3, in: 0...100))
            session.modes.repeatMode = try row.mode(4)
            session.modes.isShuffled = row.integer(5) != 0
            session.modes.gainMode = try row.mode(6)
            return session
        }
        guard var session = row else { throw Self.damage("the row of the session is missing") }
        session.origins = try connection.statement("SELECT origin FROM origins").all { $0.optionalText(0) }
        guard session.origins.allSatisfy({ WebURL($0).map { $0.userInfo == nil } ?? false }) else {
            throw Self.damage("a server that is not a URL")
        }
        session.downloads = try downloads()
        session.device = try device()
        return session
    }

    func save(_ session: SavedSession) throws {
        let sql = """
            UPDATE session
            SET current = ?, position = ?, paused = ?, volume = ?, repeat = ?, shuffled = ?, gain = ?
            """
        try connection.statement(sql).run(
            session.current.map { Int64($0) },
            session.position.wholeMilliseconds,
            Int64(session.isPaused ? 1 : 0),
            Int64(session.volume),
            session.modes.repeatMode.rawValue,
            Int64(session.modes.isShuffled ? 1 : 0),
            session.modes.gainMode.rawValue
        )
        try connection.execute("DELETE FROM origins")
        let insert = try connection.statement("INSERT INTO origins VALUES (?)")
        for origin in session.origins { try insert.run(origin) }
        try save(session.downloads)
        try save(device: session.device)
    }

    private func device() throws -> String? {
        guard try hasTable("device") else { return nil }
        return try connection.statement("SELECT name FROM device").first { $0.optionalText(0) } ?? nil
    }

    private func save(device: String?) throws {
        guard try device != self.device() else { return }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS device (name TEXT NOT NULL) STRICT; DELETE FROM device"
        )
        if let device { try connection.statement("INSERT INTO device VALUES (?)").run(device) }
    }

    /// `false` for a table that earlier versions have not made.
    private func hasTable(_ name: String) throws -> Bool {
        try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = ?").first(name) { _ in true }
            != nil
    }

    private func downloads() throws -> [SavedDownload] {
        guard try hasTable("downloads") else { return [] }
        let sql = """
            SELECT paused, location, artist, title, duration, feed, guid, number, date, zone FROM downloads
            ORDER BY place
            """
        var downloads: [SavedDownload] = []
        try connection.statement(sql).forEach { row in
            let track = try row.track(SavedQueue.downloadID(downloads.count))
            downloads.append(SavedDownload(of: track, isPaused: row.integer(0) != 0))
            return true
        }
        return downloads
    }

    private func save(_ downloads: [SavedDownload]) throws {
        guard try downloads != self.downloads() else { return }
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS downloads (
                place INTEGER PRIMARY KEY, location TEXT NOT NULL, artist TEXT, title TEXT,
                duration INTEGER, feed TEXT, guid TEXT, number INTEGER, date INTEGER, zone INTEGER,
                paused INTEGER NOT NULL
            ) STRICT;
            DELETE FROM downloads
            """
        )
        let insert = try connection.statement(
            "INSERT INTO downloads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for (index, download) in downloads.enumerated() {
            let isPaused = Int64(download.isPaused ? 1 : 0)
            try insert.run(all: Self.values(of: download.track, at: index) + [isPaused])
        }
    }

    func queue() throws -> SavedQueue {
        var queue = SavedQueue(id: try queueID())
        let sql = """
            SELECT place, location, artist, title, duration, feed, guid, number, date, zone FROM tracks
            ORDER BY place
            """
        try connection.statement(sql).forEach { row in
            let count = queue.tracks.count
            guard row.integer(0) == count + 1 else { throw Self.damage("a track without a place") }
            queue.tracks.append(try row.track(SavedQueue.trackID(count)))
            return true
        }
        try forEachRun(in: "listed", "NULL") { places, _ in
            for place in places.clamped(to: queue.tracks.indices) { queue.tracks[place].isListed = true }
        }
        try forEachRun(in: "lists", "list") { places, row in
            let list = row.optionalText(2)
            for place in places.clamped(to: queue.tracks.indices) { queue.tracks[place].list = list }
        }
        return queue
    }

    /// Calls `body` with the indices of each run of tracks in `table`, and its row, whose third value is
    /// `value`. Earlier versions replace only the queue.
    private func forEachRun(
        in table: String,
        _ value: String,
        _ body: (Range<Int>, borrowing SQLiteRow) throws -> Void
    ) throws {
        guard try hasTable(table) else { return }
        let sql = "SELECT first, count, \(value) FROM \(table) WHERE queue = (SELECT queue FROM session)"
        try connection.statement(sql).forEach { row in
            let first = Int(try row.number(0, in: 0...Int64(Int32.max)))
            try body(first..<first + Int(try row.number(1, in: 0...Int64(Int32.max))), row)
            return true
        }
    }

    /// Saves which tracks listings of web folders named (`listed`), and which lists named others from
    /// elsewhere (`lists`), as runs of neighbours.
    private func saveRuns(of queue: SavedQueue) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS listed (
                queue TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS lists (
                queue TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, list TEXT NOT NULL
            ) STRICT;
            DELETE FROM listed;
            DELETE FROM lists
            """
        )
        var insert = try connection.statement("INSERT INTO listed VALUES (?, ?, ?)")
        for range in queue.tracks.indices(where: \.isListed).ranges {
            try insert.run(queue.id, Int64(range.lowerBound), Int64(range.count))
        }
        insert = try connection.statement("INSERT INTO lists VALUES (?, ?, ?, ?)")
        var first = 0
        for (place, track) in queue.tracks.enumerated() {
            let isLast = place + 1 == queue.tracks.count || queue.tracks[place + 1].list != track.list
            guard isLast else { continue }
            if let list = track.list {
                try insert.run(queue.id, Int64(first), Int64(place + 1 - first), list)
            }
            first = place + 1
        }
    }

    /// Saves `queue`. Only the tracks that differ from those of `written` are written, unless another player
    /// has saved its queue since.
    func save(_ queue: SavedQueue, over written: SavedQueue) throws {
        let id = try queueID()
        guard id != queue.id else { return }
        let written = id == written.id ? written : SavedQueue()
        let insert = try connection.statement(
            "INSERT OR REPLACE INTO tracks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for (index, raw) in queue.tracks.enumerated() where !written.hasTrack(at: index, of: queue) {
            try insert.run(all: Self.values(of: raw.described(by: queue.facts[raw.id]), at: index))
        }
        try connection.statement("DELETE FROM tracks WHERE place > ?").run(Int64(queue.tracks.count))
        try connection.statement("UPDATE session SET queue = ?").run(queue.id)
        try saveRuns(of: queue)
    }

    /// The values of a row of `tracks`, which `SQLiteRow.track` reads.
    private static func values(of track: Track, at index: Int) -> [(any SQLiteValue)?] {
        [
            Int64(index + 1), track.location.savedText, track.tags.artist?.string, track.tags.title?.string,
            track.duration?.wholeMilliseconds, track.episode?.feed, track.episode?.guid,
            track.episode.map { Int64($0.place) }, track.episode?.date?.seconds,
            track.episode?.date.map { Int64($0.offset) },
        ]
    }

    private func queueID() throws -> String {
        try connection.statement("SELECT queue FROM session").first { $0.optionalText(0) ?? "" } ?? ""
    }

    // MARK: Tracks, episodes, and typed lines

    /// The positions at which long tracks and episodes were left, by `Track.placeKey`.
    func places() throws -> [String: Duration] {
        let rows = try connection.statement("SELECT key, position FROM places").all { row in
            (row.optionalText(0) ?? "", row.time(1))
        }
        return Dictionary(rows) { $1 }
    }

    /// Saves a position; `nil` removes it.
    func setPlace(_ position: Duration?, of key: String) throws {
        try connection.statement("DELETE FROM places WHERE key = ?").run(key)
        guard let position = position?.wholeMilliseconds else { return }
        try connection.statement("INSERT INTO places VALUES (?, ?)").run(key, position)
        grown.insert("places")
    }

    /// The key of the session's current track in `heard`, which also keeps the parts of short tracks.
    static let currentKey = ""

    /// The parts that were heard of tracks with a saved position, by `Track.placeKey`.
    func heard() throws -> [String: HeardSpans] {
        guard try hasTable("heard") else { return [:] }
        let rows = try connection.statement("SELECT key, parts FROM heard").all { row in
            (row.optionalText(0) ?? "", HeardSpans(savedText: row.optionalText(1) ?? ""))
        }
        return Dictionary(rows) { $1 }
    }

    /// Earlier versions made no table for them.
    func setHeard(_ parts: HeardSpans, of key: String) throws {
        try connection.execute(Self.heardTable)
        try connection.statement("DELETE FROM heard WHERE key = ?").run(key)
        guard !parts.list.isEmpty else { return }
        try connection.statement("INSERT INTO heard VALUES (?, ?)").run(key, parts.savedText)
        grown.insert("heard")
    }

    private static let heardTable = """
        CREATE TABLE IF NOT EXISTS heard (key TEXT NOT NULL UNIQUE, parts TEXT NOT NULL) STRICT;

        """

    /// The keys of the played episodes.
    func played() throws -> Set<String> {
        Set(try connection.statement("SELECT key FROM played").all { $0.optionalText(0) })
    }

    func setPlayed(_ isPlayed: Bool, _ key: String) throws {
        try connection.statement("DELETE FROM played WHERE key = ?").run(key)
        guard isPlayed else { return }
        try connection.statement("INSERT INTO played VALUES (?)").run(key)
        grown.insert("played")
    }

    /// The lines typed after `:`, oldest first.
    func history() throws -> [String] {
        try connection.statement("SELECT line FROM history ORDER BY rowid").all { $0.optionalText(0) }
    }

    func addLine(_ line: String) throws {
        try connection.statement("INSERT INTO history VALUES (?)").run(line)
        grown.insert("history")
    }

    /// `session` has one row. Its `queue` is a text that is new whenever a player has changed `tracks`. Times
    /// are in milliseconds, but `date` and `zone` in seconds. The keys of episodes are those of `Episode`.
    /// `urls` stays empty: earlier versions read and fill it.
    private static let tables = """
        CREATE TABLE session (
            queue TEXT NOT NULL DEFAULT '', current INTEGER, position INTEGER NOT NULL DEFAULT 0,
            paused INTEGER NOT NULL DEFAULT 0, volume INTEGER NOT NULL DEFAULT 100,
            repeat TEXT NOT NULL DEFAULT 'off', shuffled INTEGER NOT NULL DEFAULT 0,
            gain TEXT NOT NULL DEFAULT 'off'
        ) STRICT;
        INSERT INTO session DEFAULT VALUES;
        CREATE TABLE origins (origin TEXT NOT NULL) STRICT;
        CREATE TABLE tracks (
            place INTEGER PRIMARY KEY, location TEXT NOT NULL, artist TEXT, title TEXT, duration INTEGER,
            feed TEXT, guid TEXT, number INTEGER, date INTEGER, zone INTEGER
        ) STRICT;
        CREATE TABLE places (key TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) STRICT;
        CREATE TABLE played (key TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE urls (key TEXT NOT NULL, url TEXT NOT NULL, UNIQUE (key, url)) STRICT;
        CREATE TABLE history (line TEXT NOT NULL) STRICT;

        """ + heardTable
}

extension HeardSpans {
    /// The times of the last 200 parts, in milliseconds: `0-1500 30000-45000`.
    fileprivate var savedText: String {
        list.suffix(200)
            .map { "\($0.lowerBound.wholeMilliseconds)-\($0.upperBound.wholeMilliseconds)" }
            .joined(separator: " ")
    }

    /// What is no part of such a text is passed over.
    fileprivate init(savedText: String) {
        self.init(
            savedText.split(separator: " ").compactMap { part in
                let times = part.split(separator: "-").compactMap { Int64($0) }
                guard times.count == 2, 0 <= times[0], times[0] < times[1] else { return nil }
                return .milliseconds(times[0]) ..< .milliseconds(times[1])
            }
        )
    }
}

/// The tables have a newer format than this version knows.
struct NewerStateError: Error, CustomStringConvertible {
    var description: String { "a newer version made it – use that version" }
}

extension SQLiteRow {
    fileprivate func number(_ column: CInt, in range: ClosedRange<Int64>) throws -> Int64 {
        let number = integer(column)
        guard range.contains(number) else { throw StateTables.damage("a number out of range") }
        return number
    }

    /// A time of at most ten years, so that sums do not overflow.
    fileprivate func time(_ column: CInt) -> Duration {
        .milliseconds(min(max(0, integer(column)), 1 << 38))
    }

    fileprivate func mode<Mode: RawRepresentable<String>>(_ column: CInt) throws -> Mode {
        guard let mode = optionalText(column).flatMap({ Mode(rawValue: $0) }) else {
            throw StateTables.damage("an unknown mode")
        }
        return mode
    }

    /// The track in the columns after the first one.
    fileprivate func track(_ id: Track.ID) throws -> Track {
        guard let location = optionalText(1).flatMap({ ResourceLocation(savedText: $0) }) else {
            throw StateTables.damage("a track that is neither a file nor a URL")
        }
        let artist = optionalText(2).map { SafeText($0) }
        let title = optionalText(3).map { SafeText($0) }
        return Track(
            id: id,
            location: location,
            tags: TrackTags(title: title, artist: artist),
            duration: isNull(4) ? nil : time(4),
            episode: try episode()
        )
    }

    /// The episode in the columns of `tracks` from `feed` on; `nil` if the track is not an episode.
    fileprivate func episode() throws -> Episode? {
        guard let feed = optionalText(5) else { return nil }
        let range: ClosedRange<Int64> = -100_000_000_000...1_000_000_000_000
        let date = InternetDate(seconds: try number(8, in: range), offset: try number(9, in: range))
        let place = Int(try number(7, in: range))
        return Episode(feed: feed, guid: optionalText(6) ?? "", date: isNull(8) ? nil : date, place: place)
    }
}
