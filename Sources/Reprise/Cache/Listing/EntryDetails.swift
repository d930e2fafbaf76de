import Media

/// One entry, a line for each thing that is known: pure.
struct EntryDetails: Sendable {
    var style: TextStyle
    /// Seconds since 1970 as text.
    var time: @Sendable (Int64) -> String

    func lines(_ entry: CacheListing) -> [String] {
        let ranges = entry.stored.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        let gaps = entry.length.map { entry.stored.gaps(in: 0..<$0) } ?? []
        let missing = gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        var rows: [(name: String, value: String?)] = [
            ("source", entry.source.string)
        ]
        rows += entry.otherSources.map { ("also as", $0.string) }
        rows += [
            ("title", entry.title?.string),
            ("artist", entry.artist?.string),
            ("duration", entry.duration?.clockTime),
            ("type", entry.contentType?.string),
            ("size", entry.length.map { "\(ByteSize.text($0)) (\($0) bytes)" }),
            ("stored", "\(ByteSize.text(entry.storedBytes)) (\(entry.storedBytes) bytes)"),
            ("share", entry.share.map { "\($0) %" }),
            ("ranges", ranges.isEmpty ? nil : ranges),
            ("missing", missing.isEmpty ? nil : missing),
            ("on disk", "\(ByteSize.text(entry.allocatedBytes)) (\(entry.allocatedBytes) bytes)"),
            ("seekable", entry.isSeekable.map { $0 ? "yes" : "no" }),
            ("etag", entry.etag?.string),
            ("last modified", entry.lastModified?.string),
            ("pinned", entry.isPinned ? "yes" : "no"),
            ("first stored", entry.created.map(time)),
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
