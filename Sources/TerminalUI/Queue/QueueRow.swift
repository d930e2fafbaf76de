internal import Media

/// The texts of one row of the queue. Pure.
struct QueueRow {
    /// The position in the queue, from 1.
    let number: Int
    /// The symbols before the number, of one column each: one for playing, paused, waiting or failed, one for
    /// a mark, and one for a played episode.
    private(set) var signs: [(text: SafeText, style: Style)] = []
    let isMarked: Bool
    /// `true` below a heading.
    var isInGroup = false
    let title: SafeText
    /// Empty if unknown.
    let artist: SafeText
    let album: SafeText
    /// Four digits; empty if unknown.
    let year: SafeText
    /// The ending of the file, `FLAC`; empty if it names no music.
    let format: SafeText
    /// The day of an episode, `2026-11-23`; empty if unknown.
    let date: SafeText
    /// The reason if the track failed; otherwise empty.
    private(set) var failure: SafeText = ""
    /// The map of the cached bytes; empty for a local file, and if the length is unknown.
    private(set) var map: [BarPart] = []
    private(set) var isPinned = false
    /// Empty if unknown.
    let duration: SafeText
    let style: Style

    /// The row of the track at `index`, which must be in the queue.
    init(
        _ player: PlayerSnapshot,
        index: Int,
        isMarked: Bool,
        mapCells: Int = RangeBar.columns,
        glyphs: Glyphs
    ) {
        number = index + 1
        let track = player.tracks[index]
        let isCurrent = index == player.currentIndex
        let names = Self.names(player, at: index)
        title = names.title ?? track.location.shortName
        artist = names.artist ?? ""
        let tags = Self.tags(player, at: index)
        album = tags.album ?? ""
        year = SafeText(tags.year?.string.prefix(4) ?? "")
        format = Self.format(of: track.location.path)
        date = track.episode?.date.map { SafeText($0.day) } ?? ""
        let known =
            (isCurrent ? player.duration : nil) ?? player.learned[track.id]?.duration ?? track.duration
        duration = known.map { SafeText($0.clockTime) } ?? ""
        self.isMarked = isMarked
        // A track that failed once may play at the next attempt.
        if let error = player.failures[track.id], !(isCurrent && player.state.isHeard) {
            failure = error.reason
            style = .error
            signs.append((glyphs.failed, style))
        } else if isCurrent {
            style = .playing
            signs.append((glyphs.sign(of: player.state), style))
        } else {
            style = isMarked ? .marked : names.title == nil ? .faint : track.isPlayed ? .dim : .normal
        }
        if isMarked { signs.append((glyphs.mark, .marked)) }
        if track.isPlayed { signs.append((glyphs.heard, .dim)) }
        isPinned = player.availability[track.id]?.isPinned ?? false
        if case .web = track.location {
            map = Self.map(of: track, isCurrent: isCurrent, cells: mapCells, player)
        }
    }

    private static func format(of path: String) -> SafeText {
        guard AudioKind.byName(path) != nil, let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            return ""
        }
        return SafeText(path[path.index(after: dot)...].uppercased())
    }

    /// The tags of the track at `index`, those of its file if they are known.
    private static func tags(_ player: PlayerSnapshot, at index: Int) -> TrackTags {
        let found = player.learned[player.tracks[index].id]?.tags
        return found.map { player.tracks[index].tags(with: $0) } ?? player.tracks[index].tags
    }

    /// The title, the artist and the album of the row at `index`, if known. Searching, filtering and showing
    /// use these. A station keeps the name that its list gives it, or else its own, whatever it plays.
    static func names(_ player: PlayerSnapshot, at index: Int) -> (
        title: SafeText?, artist: SafeText?, album: SafeText?
    ) {
        // Reads the tracks in place: a filter examines 100,000 of them, and a copy costs reference counts.
        var heard = index == player.currentIndex ? player.info?.tags : nil
        if player.load.live != nil, let known = heard,
            let station = player.tracks[index].tags.title ?? known.album
        {
            heard = TrackTags(title: station)
        }
        guard let better = heard ?? player.learned[player.tracks[index].id]?.tags else {
            let title = player.tracks[index].tags.title
            let artist = player.tracks[index].tags.artist
            return (title, artist, player.tracks[index].tags.album)
        }
        let tags = player.tracks[index].tags(with: better)
        return (tags.title, tags.artist, tags.album)
    }

    func name(_ glyphs: Glyphs) -> SafeText { TrackName.text(title, artist, dash: glyphs.dash) }

    /// The map of a track's bytes. For the current track, the loader has the exact ranges, including
    /// uncommitted ones.
    private static func map(
        of track: Track,
        isCurrent: Bool,
        cells: Int,
        _ player: PlayerSnapshot
    ) -> [BarPart] {
        let load = player.load
        if isCurrent, load.isCached, load.length != nil {
            return RangeBar.parts(load.stored, inFlight: load.inFlight, length: load.length, columns: cells)
        }
        if let download = player.runningDownload(of: track) {
            return RangeBar.parts(
                download.stored,
                inFlight: download.inFlight,
                length: download.length,
                columns: cells
            )
        }
        // Nothing of a track without an entry is cached, whatever its length.
        let known = player.availability[track.id] ?? Availability(length: 1)
        return RangeBar.parts(known.stored, length: known.length, columns: cells)
    }

    /// Title and artist of a track if known, else the short name of its file.
    static func name(of track: Track, tags better: TrackTags?, glyphs: Glyphs) -> SafeText {
        let parts = nameParts(of: track, tags: better)
        return TrackName.text(parts.title, parts.artist, dash: glyphs.dash)
    }

    static func nameParts(of track: Track, tags better: TrackTags?) -> (
        title: SafeText, artist: SafeText?, album: SafeText?
    ) {
        let tags = better.map { track.tags(with: $0) } ?? track.tags
        return (tags.title ?? track.location.shortName, tags.artist, tags.album)
    }

    /// The name of the current track; `nil` if there is none.
    static func currentName(in player: PlayerSnapshot, glyphs: Glyphs) -> SafeText? {
        currentNameParts(in: player).map { TrackName.text($0.title, $0.artist, dash: glyphs.dash) }
    }

    /// The title of the current track, or the name of its file, the artist and the album; `nil` if there is
    /// none.
    static func currentNameParts(in player: PlayerSnapshot) -> (
        title: SafeText, artist: SafeText?, album: SafeText?
    )? {
        player.currentTrack.map { track in
            nameParts(of: track, tags: player.info?.tags ?? player.learned[track.id]?.tags)
        }
    }
}

extension PlayerSnapshot.State {
    /// `true` if the current track is open: playing, paused or buffering.
    var isHeard: Bool {
        switch self {
        case .playing, .paused, .buffering: true
        case .stopped, .opening, .ended: false
        }
    }
}
