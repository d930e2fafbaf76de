import Glibc
import Media
import System

/// The text files in which earlier versions saved the state. They are read until there is a database, and
/// stay as they are.
///
/// A line is a name and its fields, separated by tabs; control characters and `%` are percent-encoded.
enum EarlierFiles {
    /// The statement for each line, by its name, and the number of its fields. A track is the line `track`
    /// with the line `episode` before it.
    private static let statements: [String: (fieldCount: Int, sql: String)] = [
        "queue": (1, "UPDATE session SET queue = ?"),
        "current": (1, "UPDATE session SET current = ?"),
        "position": (1, "UPDATE session SET position = ?"),
        "paused": (0, "UPDATE session SET paused = 1"),
        "volume": (1, "UPDATE session SET volume = ?"),
        "repeat": (1, "UPDATE session SET repeat = ?"),
        "shuffle": (0, "UPDATE session SET shuffled = 1"),
        "gain": (1, "UPDATE session SET gain = ?"),
        "origin": (1, "INSERT INTO origins VALUES (?)"),
        "place": (2, "INSERT OR REPLACE INTO places (position, key) VALUES (?, ?)"),
        // The index in another queue does not count.
        "id": (1, "UPDATE session SET current = CASE queue WHEN ?1 THEN current END, queue = ?1"),
        "track": (
            9,
            """
            INSERT INTO tracks (feed, guid, number, date, zone, duration, location, artist, title) VALUES
            (NULLIF(?, ''), ?, NULLIF(?, ''), NULLIF(?, ''), NULLIF(?, ''), NULLIF(?, ''), ?, NULLIF(?, ''),
                NULLIF(?, ''))
            """
        ),
        "played": (2, "INSERT OR REPLACE INTO played VALUES (?1 || char(0) || ?2)"),
        "unplayed": (2, "DELETE FROM played WHERE key = ?1 || char(0) || ?2"),
    ]

    /// Adds the content of the files in the folder at `path` to new tables. A damaged file is ignored. Throws
    /// if a file cannot be read now.
    static func takeOver(from path: String, into tables: StateTables) throws {
        for name in ["session", "queue", "episodes", "history"] {
            guard let text = try text(of: path + "/" + name) else { continue }
            let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
            try tables.connection.execute("SAVEPOINT file")
            do {
                switch name {
                case "history": for line in lines { try tables.addLine(String(line)) }
                // A full disk may have cut any line.
                case "episodes": for line in lines { _ = try add(fields(line), to: tables) }
                default:
                    guard lines.first == "reprise \(name) 1", lines.last == "end" else {
                        throw StateTables.damage("its end is missing")
                    }
                    try add(lines.dropFirst().dropLast(), to: tables)
                }
            } catch let error as SQLiteError where error.isDamage {
                try tables.connection.execute("ROLLBACK TO file")
            }
            try tables.connection.execute("RELEASE file")
        }
    }

    /// `nil` if the file at `path` can never be read, or is no text file of a sensible size.
    private static func text(of path: String) throws -> String? {
        // Non-blocking, in case there is a pipe in its place.
        let file = open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if file < 0, [ENOENT, ENOTDIR, EACCES, ELOOP, ENXIO].contains(errno) { return nil }
        do throws(SystemError) {
            try check("open the file", file)
            defer { close(file) }
            var status = stat()
            try check("read the file", fstat(file, &status))
            guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= 64 << 20 else { return nil }
            return String(validating: try WholeFile.read(file, limit: 64 << 20), as: UTF8.self)
        } catch {
            throw MediaError(.unreadable, SafeText(path), SafeText(error.reason))
        }
    }

    /// Adds the lines of a session or queue, and checks them.
    private static func add(_ lines: ArraySlice<Substring>, to tables: StateTables) throws {
        let noEpisode = Array(repeating: "", count: 5)
        var episode = noEpisode
        for line in lines {
            var fields = fields(line)
            if fields[0] == "episode", fields.count == 6 {
                episode = Array(fields.dropFirst())
                continue
            }
            if fields[0] == "track" {
                fields.insert(contentsOf: episode, at: 1)
                episode = noEpisode
            }
            guard try add(fields, to: tables) else { throw StateTables.damage("an unknown line") }
        }
        _ = (try tables.session(), try tables.places(), try tables.queue())
    }

    /// Adds what a line says. Returns `false` if no version wrote it.
    private static func add(_ fields: [String], to tables: StateTables) throws -> Bool {
        guard let (fieldCount, sql) = statements[fields[0]], fields.count == fieldCount + 1 else {
            return false
        }
        try tables.connection.statement(sql).run(all: Array(fields.dropFirst()))
        return true
    }

    private static func fields(_ line: Substring) -> [String] {
        let fields = line.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        return fields.map { PercentEncoding.decoded(Substring($0)) }
    }
}
