import Glibc
import Media
import System

/// `$XDG_STATE_HOME/reprise`: the private folder with what outlives a session, most of it in one database.
///
/// Each reading and each change opens the database anew, so nothing has to be mended after a full disk, a
/// lost mount, or the removal of the file. It has no write-ahead log, which needs memory that processes
/// share: the folder may be on a network file system.
struct StateFolder: Sendable {
    /// The folder is created with the first file.
    let path: String

    /// The limit of the log; a longer one is deleted at the next start.
    static let longestLog: off_t = 1 << 20

    var databasePath: String { path + "/state.sqlite" }

    /// The path of the log that receives standard error while a screen is up, since libraries may write
    /// there; `nil` if the folder cannot be created.
    func log() -> String? {
        guard (try? make()) != nil else { return nil }
        let log = path + "/log"
        let file = FileName.cString(log)
        var status = stat()
        if lstat(file, &status) == 0, status.st_size > Self.longestLog { unlink(file) }
        return log
    }

    /// Runs `body` on the database, which does not change meanwhile. Without a database, `body` gets the
    /// content of the text files of earlier versions. Creates no file, and waits at most a second for
    /// another process that writes.
    func read<Value>(_ body: (StateTables) throws -> Value) throws -> Value {
        if let tables = try open(creating: false), try !tables.isNew() {
            return try tables.connection.snapshot { try body(tables) }
        }
        let tables = StateTables(connection: try SQLiteConnection(path: ":memory:"))
        try tables.make(takingOver: path)
        return try body(tables)
    }

    /// Runs `body` as one transaction that is on the disk when this returns. Waits for other processes that
    /// write.
    ///
    /// The first change creates the database, and takes over the text files of earlier versions.
    func change(_ body: (StateTables) throws -> Void) throws {
        try make()
        guard let tables = try open(creating: true) else { return }
        try tables.connection.transaction {
            if try tables.isNew() { try tables.make(takingOver: path) }
            try body(tables)
            try tables.trim()
        }
    }

    /// The open database; `nil` if it does not exist.
    private func open(creating: Bool) throws -> StateTables? {
        // Created here, because SQLite would make it readable for other users.
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (creating ? O_RDWR | O_CREAT : O_RDONLY)
        let file = Glibc.open(FileName.cString(databasePath), flags, 0o600)
        if file < 0, !creating, errno == ENOENT || errno == ENOTDIR { return nil }
        try check("open the file", file)
        // This removes all locks of the process on the file (fcntl(2)); the new connection has none yet.
        defer { close(file) }
        var status = stat()
        try check("read the file", fstat(file, &status))
        // SQLite would call it a disk I/O error.
        guard status.st_mode & S_IFMT == S_IFREG else { throw StateTables.damage("it is not a file") }
        // SQLite takes missing locks for those of another process, and waits.
        var lock = Glibc.flock()
        lock.l_type = Int16(F_RDLCK)
        try check("lock the file", fcntl(file, F_GETLK, &lock))
        // SQLite refuses a symlink anywhere in the path, but the user may have made the folder one.
        let connection = try SQLiteConnection(path: FileName.realPath(of: path) + "/state.sqlite")
        // EXTRA: no power cut undoes what was saved. Without spilling, others can read until the commit.
        try connection.execute(
            """
            PRAGMA busy_timeout = \(creating ? 5_000 : 1_000);
            PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            PRAGMA synchronous = EXTRA; PRAGMA cache_spill = OFF
            """
        )
        return StateTables(connection: connection)
    }

    private func make() throws {
        if access(FileName.cString(path), W_OK | X_OK) == 0 { return }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // The specification of the base directories requires 0700 for the parents too.
            mkdir(FileName.cString(made), 0o700)
        }
        try check("make the folder", access(FileName.cString(path), W_OK | X_OK))
    }
}
