import Cache
import Media

/// The lines of `reprise cache info`. Pure.
struct EntryDetails: Sendable {
    var style: TextStyle
    /// Formats seconds since 1970.
    var time: @Sendable (Int64) -> String

    func lines(_ entry: CachedEntry) -> [String] {
        let ranges = entry.stored.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        let gaps = entry.length.map { entry.stored.gaps(in: 0..<$0) } ?? []
        let missing = gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        var rows: [(name: String, value: String?)] = [
            ("source", entry.url.string)
        ]
        rows += entry.otherURLs.map { ("also as", $0.string) }
        rows += [
            ("title", entry.title?.string),
            ("artist", entry.artist?.string),
            ("duration", entry.duration?.clockTime),
            ("type", entry.contentType?.string),
            ("size", entry.length.map { "\(SizeText.text($0)) (\($0) bytes)" }),
            ("cached", "\(SizeText.text(entry.storedBytes)) (\(entry.storedBytes) bytes)"),
            ("share", entry.percent.map { "\($0) %" }),
            ("ranges", ranges.isEmpty ? nil : ranges),
            ("missing", missing.isEmpty ? nil : missing),
            ("on disk", "\(SizeText.text(entry.allocatedBytes)) (\(entry.allocatedBytes) bytes)"),
            ("seekable", entry.acceptsRanges.map { $0 ? "yes" : "no" }),
            ("etag", entry.etag?.string),
            ("last modified", entry.lastModified?.string),
            ("pinned", entry.isPinned ? "yes" : "no"),
            ("first cached", entry.created.map(time)),
            ("last played", time(entry.lastPlayed)),
        ]
        let width = rows.filter { $0.value != nil }.map(\.name.count).max() ?? 0
        return rows.compactMap { row in
            row.value.map { value in
                row.name + String(repeating: " ", count: width + 2 - row.name.count)
                    + style.shown(SafeText(value)).string
            }
        }
    }
}

/// Entries as JSON objects. Fields may be added, but none renamed.
enum EntryFields {
    static func list(_ entry: CachedEntry) -> [(key: String, value: EventField)] {
        [
            ("source", .text(entry.url)),
            ("title", .text(orNone: entry.title)),
            ("artist", .text(orNone: entry.artist)),
            ("duration", .seconds(orNone: entry.duration)),
            ("type", .text(orNone: entry.contentType)),
            ("size", .integer(orNone: entry.length)),
            ("stored", .integer(entry.storedBytes)),
            ("lastPlayed", .integer(entry.lastPlayed)),
            ("created", .integer(orNone: entry.created)),
            ("allocated", .integer(entry.allocatedBytes)),
            ("complete", .flag(entry.isComplete)),
            ("pinned", .flag(entry.isPinned)),
        ]
    }

    static func info(_ entry: CachedEntry) -> [(key: String, value: EventField)] {
        list(entry) + [
            ("ranges", ranges(entry.stored.ranges)),
            ("etag", .text(orNone: entry.etag)),
            ("lastModified", .text(orNone: entry.lastModified)),
            ("seekable", entry.acceptsRanges.map { .flag($0) } ?? .none),
            ("alsoAs", .list(entry.otherURLs.map { .text($0) })),
        ]
    }

    /// Ranges as pairs of offsets, the second exclusive.
    static func ranges(_ ranges: some Sequence<ByteRange>) -> EventField {
        .list(ranges.map { .list([.integer($0.lowerBound), .integer($0.upperBound)]) })
    }
}

extension EventField {
    static func integer(orNone number: Int64?) -> EventField { number.map { .integer($0) } ?? .none }
}
