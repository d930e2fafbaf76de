internal import Media

/// The heading of a group in the queue: `Blue Hour  Ada Quinn Trio · 1964 ──── 8 tracks · 3:40`. Pure.
struct QueueHeading {
    /// The album, or else the feed, the list or the folder.
    let name: SafeText
    /// The artist and the year; empty if unknown.
    let details: SafeText
    /// The number of tracks and their length, `~` if some lengths are unknown.
    let totals: SafeText
    /// The sign of a folded heading: that of the current track if the group holds it; `nil` if not folded.
    let sign: SafeText?
    let isMarked: Bool

    init(
        _ run: QueueOutline.Run,
        totals: QueueOutline.Totals,
        isMarked: Bool,
        _ player: PlayerSnapshot,
        _ glyphs: Glyphs
    ) {
        let first = player.tracks[run.places.lowerBound]
        let last = player.tracks[run.places.upperBound - 1]
        var parts: [SafeText] = []
        if let place = run.albumPlace {
            let tags = Self.tags(of: player.tracks[place], player)
            let artist = tags.artist == Self.tags(of: last, player).artist ? tags.artist : nil
            name = tags.album ?? first.groupName
            parts = [tags.albumArtist ?? artist, tags.year.map { SafeText($0.string.prefix(4)) }]
                .compactMap { $0 }
        } else if first.episode != nil {
            // Feeds state their title as the artist of their episodes.
            name = first.tags.artist ?? first.location.folderName
        } else {
            name = first.groupName
        }
        details = SafeText(parts.map(\.string).joined(separator: " \(glyphs.dot) "))
        self.totals = totals.text(glyphs)
        let holdsCurrent = player.currentIndex.map { run.places.contains($0) } == true
        sign = !run.isFolded ? nil : holdsCurrent ? glyphs.sign(of: player.state) : glyphs.folded
        self.isMarked = isMarked
    }

    private static func tags(of track: Track, _ player: PlayerSnapshot) -> TrackTags {
        player.learned[track.id]?.tags ?? track.tags
    }

    /// `Blue Hour – Ada Quinn Trio, 8 tracks · 3:40`, for a line of text.
    func line(_ glyphs: Glyphs) -> SafeText {
        name + (details.isEmpty ? "" : " " + glyphs.dash + " " + details) + ", " + totals
    }

    /// Draws the heading up to the column `end`.
    func draw(row: Int, upTo end: Int, into buffer: inout CellBuffer) {
        let glyphs = buffer.glyphs
        var column = 1
        if let sign {
            column += 2
            buffer.draw(sign, column: 1, row: row, style: sign == glyphs.folded ? .heading : .playing)
        }
        let start = end - totals.columns
        // A narrow window keeps the name.
        let room = start - 6 >= 12 ? start - 4 : end
        column = buffer.draw(name, column: column, row: row, limit: room - column, style: .heading)
        guard room < end else { return }
        if !details.isEmpty, column + 6 < room {
            column = buffer.draw(details, column: column + 2, row: row, limit: room - column - 2, style: .dim)
        }
        for place in column + 1..<max(column + 1, start - 1) {
            buffer.draw(glyphs.rule, column: place, row: row, style: .missing)
        }
        buffer.draw(totals, column: start, row: row, style: .dim)
    }
}

extension QueueOutline.Totals {
    /// `8 tracks · 3:40`; without a length if none is known.
    func text(_ glyphs: Glyphs) -> SafeText {
        let tracks = SafeText(CountText.of(count, "track"))
        guard knownCount > 0 else { return tracks }
        let guess = knownCount < count ? "~" : ""
        return tracks + " " + glyphs.dot + " " + SafeText(guess + duration.clockTime)
    }
}
