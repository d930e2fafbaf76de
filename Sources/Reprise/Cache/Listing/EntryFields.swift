import Media

/// Entries as programs read them: one JSON object each; fields may be added, and none renamed.
enum EntryFields {
    /// What `list` tells of an entry.
    static func list(_ entry: CacheListing) -> [(key: String, value: EventField)] {
        [
            ("source", .text(entry.source)),
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

    /// What `info` tells of an entry.
    static func info(_ entry: CacheListing) -> [(key: String, value: EventField)] {
        list(entry) + [
            ("ranges", ranges(entry.stored.ranges)),
            ("etag", .text(orNone: entry.etag)),
            ("lastModified", .text(orNone: entry.lastModified)),
            ("seekable", entry.isSeekable.map { .flag($0) } ?? .none),
            ("alsoAs", .list(entry.otherSources.map { .text($0) })),
        ]
    }

    /// Ranges as pairs of offsets, the second not included.
    static func ranges(_ ranges: some Sequence<ByteRange>) -> EventField {
        .list(ranges.map { .list([.integer($0.lowerBound), .integer($0.upperBound)]) })
    }
}

extension EventField {
    static func integer(orNone number: Int64?) -> EventField { number.map { .integer($0) } ?? .none }
}
