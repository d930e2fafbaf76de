import Media

/// Entries as people and programs read them.
enum CacheTable {
    /// A line of headings and one for each entry, in columns; a last line with the sum.
    static func lines(_ entries: [CacheListing], time: (Int64) -> String) -> [String] {
        guard !entries.isEmpty else { return ["nothing is kept"] }
        let rows =
            [["STORED", "SIZE", "%", "LAST PLAYED", "SOURCE"]]
            + entries.map { entry in
                [
                    ByteSize.text(entry.storedBytes),
                    entry.length.map { ByteSize.text($0) } ?? "?",
                    share(entry).map { "\($0)" } ?? "?",
                    time(entry.lastPlayed),
                    entry.source.string,
                ]
            }
        let count = entries.count == 1 ? "1 entry" : "\(entries.count) entries"
        let total = entries.reduce(Int64(0)) { $0 &+ $1.storedBytes }
        return aligned(rows, rightAligned: [0, 1, 2]) + ["\(count), \(ByteSize.text(total))"]
    }

    /// One entry, a line for each thing that is known.
    static func lines(_ entry: CacheListing, time: (Int64) -> String) -> [String] {
        let ranges = entry.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        let rows: [(name: String, value: String?)] = [
            ("source", entry.source.string),
            ("title", entry.title?.string),
            ("artist", entry.artist?.string),
            ("duration", entry.duration?.clockTime),
            ("type", entry.contentType?.string),
            ("size", entry.length.map { "\(ByteSize.text($0)) (\($0) bytes)" }),
            ("stored", "\(ByteSize.text(entry.storedBytes)) (\(entry.storedBytes) bytes)"),
            ("share", share(entry).map { "\($0) %" }),
            ("ranges", ranges.isEmpty ? nil : ranges),
            ("last played", time(entry.lastPlayed)),
        ]
        return aligned(rows.compactMap { row in row.value.map { [row.name, $0] } }, rightAligned: [])
    }

    /// One entry as a JSON object; ranges are half-open pairs.
    static func json(_ entry: CacheListing) -> String {
        EventLine.json([
            ("source", .text(entry.source)),
            ("title", .text(orNone: entry.title)),
            ("artist", .text(orNone: entry.artist)),
            ("duration", .seconds(orNone: entry.duration)),
            ("type", .text(orNone: entry.contentType)),
            ("size", entry.length.map { .integer($0) } ?? .none),
            ("stored", .integer(entry.storedBytes)),
            ("lastPlayed", .integer(entry.lastPlayed)),
        ])
    }

    /// Whole percents that are kept, rounded down, so that 100 means all; nil while the length is unknown.
    static func share(_ entry: CacheListing) -> Int? {
        guard let length = entry.length, length > 0 else { return nil }
        return Int(min(100, Double(entry.storedBytes) / Double(length) * 100))
    }

    /// Pads all columns but the last, which may be of any width, two spaces apart.
    private static func aligned(_ rows: [[String]], rightAligned: Set<Int>) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                guard column < columns - 1 else { return cell }
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return rightAligned.contains(column) ? padding + cell : cell + padding
            }.joined(separator: "  ")
        }
    }
}
