import Glibc
import Media
import System

/// The table `savings`: the bytes that were played from each server, by day, by month and in all.
struct SavingsTable {
    /// A day of the local calendar as a number, such as 20261127. Its month is 202611.
    struct Day: Sendable, Equatable {
        let number: Int64

        /// The day of `time`, in seconds since 1970.
        init(at time: Int64) {
            var moment = time_t(time)
            var parts = tm()
            localtime_r(&moment, &parts)
            number =
                (Int64(parts.tm_year) + 1_900) * 10_000 + Int64(parts.tm_mon + 1) * 100
                + Int64(parts.tm_mday)
        }

        var month: Int64 { number / 100 }
        /// The same month of the last year.
        var yearBefore: Int64 { month - 100 }
    }

    /// From the first of the days that are kept until now: 31 with today. Of the months, twelve are kept.
    private static let keptSeconds: Int64 = 30 * 86_400
    /// The period that stands for all time.
    private static let always: Int64 = 0
    /// A period that is greater is a day, else a month.
    private static let lastMonth: Int64 = 999_999

    private let connection: SQLiteConnection
    private let protection: Protection

    init(connection: SQLiteConnection, protection: Protection) {
        self.connection = connection
        self.protection = protection
    }

    /// Adds `bytes` of `host` to the sums of the day and the month of `time` (seconds since 1970), and to
    /// those in all. Removes older days and months.
    func add(_ bytes: HeardBytes, of host: String, at time: Int64) throws {
        let day = Day(at: time)
        let sql = """
            INSERT INTO savings (period, host, name, heard, saved) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET heard = heard + excluded.heard, saved = saved + excluded.saved
            """
        let insert = try connection.statement(sql)
        let name = protection.keep(Array(host.utf8), in: .host, of: EntryID(0))
        for period in [day.number, day.month, Self.always] {
            try insert.run(period, protection.key(of: "host\0" + host), name, bytes.heard, bytes.saved)
        }
        let oldest = Day(at: time - Self.keptSeconds).number
        try connection.statement("DELETE FROM savings WHERE period > ? AND period < ?")
            .run(Self.lastMonth, oldest)
        try connection.statement("DELETE FROM savings WHERE period > ? AND period <= ?")
            .run(Self.always, day.yearBefore)
    }

    /// Reads the sums of the day and the month of `time` (seconds since 1970), and those in all.
    func all(at time: Int64) throws -> Savings {
        let day = Day(at: time)
        var savings = Savings()
        try connection.statement("SELECT period, name, heard, saved FROM savings WHERE period IN (?, ?, ?)")
            .forEach(day.number, day.month, Self.always) { row in
                let heard = CacheIndex.plausible(row.integer(2))
                let bytes = HeardBytes(heard: heard, saved: min(CacheIndex.plausible(row.integer(3)), heard))
                switch row.integer(0) {
                case day.number: savings.today += bytes
                case day.month: savings.month += bytes
                default:
                    savings.total += bytes
                    let name = protection.record(from: row.blob(1), in: .host, of: EntryID(0))
                    guard let name else { return true }
                    let text = SafeText(String(decoding: name, as: UTF8.self))
                    savings.hosts.append(Savings.Host(name: text, total: bytes))
                }
                return true
            }
        savings.hosts.sort { ($1.total.saved, $0.name.string) < ($0.total.saved, $1.name.string) }
        return savings
    }

    /// The table, which is added to folders of format 6 that lack it. Sums are in bytes.
    static let table = """
        CREATE TABLE IF NOT EXISTS savings (
            period INTEGER NOT NULL,
            host BLOB NOT NULL,
            name BLOB NOT NULL,
            heard INTEGER NOT NULL,
            saved INTEGER NOT NULL,
            PRIMARY KEY (period, host)
        ) STRICT, WITHOUT ROWID;
        """

    /// An empty table for a folder that cannot be written to and has none.
    static let noTable = """
        CREATE TEMP VIEW savings AS SELECT 0 AS period, x'' AS host, x'' AS name, 0 AS heard, 0 AS saved
            WHERE false
        """
}
