package import Media

/// The texts of one row of the queue. Pure.
package struct QueueRow: Equatable {
    /// One column: the symbol for playing, paused, waiting or failed, or a blank.
    package var mark: SafeText
    package var isMarked = false
    package var title: SafeText
    /// Empty if unknown.
    package var artist: SafeText
    /// The reason if the track failed; otherwise empty.
    package var failure: SafeText = ""
    /// The cached share: a symbol for all, a percentage for a part, otherwise empty.
    package var cached: SafeText = ""
    /// The time up to which the track plays from the cache; empty if that is its start or its end.
    package var playsTo: SafeText = ""
    package var isPinned = false
    /// Empty if unknown.
    package var duration: SafeText
    package var style: Style

    /// The row of the track at `index`, which must be in the queue.
    package init(_ player: PlayerSnapshot, index: Int, isMarked: Bool = false, glyphs: Glyphs) {
        let track = player.tracks[index]
        let isCurrent = index == player.currentIndex
        let facts = player.learned[track.id]
        let tags = Self.tags(of: track, better: isCurrent ? player.info?.tags ?? facts?.tags : facts?.tags)
        title = tags.title ?? track.location.name
        artist = tags.artist ?? ""
        let known = (isCurrent ? player.duration : nil) ?? facts?.duration ?? track.duration
        duration = known.map { SafeText($0.clockTime) } ?? ""
        self.isMarked = isMarked
        // A track that failed once may play at the next attempt.
        if let reason = player.failures[track.id], !(isCurrent && player.state.isHeard) {
            (mark, failure, style) = (glyphs.failed, reason, .error)
        } else if isCurrent {
            (mark, style) = (glyphs.sign(of: player.state), .playing)
        } else {
            (mark, style) = (" ", isMarked ? .marked : .normal)
        }
        if let availability = Self.availability(of: track, isCurrent: isCurrent, player) {
            show(availability, glyphs: glyphs)
        }
    }

    /// Title and artist in one line.
    package func name(glyphs: Glyphs) -> SafeText {
        artist.isEmpty ? title : title + " " + glyphs.dash + " " + artist
    }

    /// The cached part of a track. For the current track, the loader has the exact number of bytes, including
    /// uncommitted ones, and the bar shows the time.
    private static func availability(
        of track: Track,
        isCurrent: Bool,
        _ player: PlayerSnapshot
    ) -> Availability? {
        let known = player.availability[track.id]
        guard isCurrent, player.load.isCached, let length = player.load.length, case .web = track.location
        else {
            return known
        }
        let stored = min(length, player.load.stored.byteCount)
        return Availability(
            storedBytes: stored,
            length: length,
            isPinned: known?.isPinned ?? false
        )
    }

    private mutating func show(_ availability: Availability, glyphs: Glyphs) {
        isPinned = availability.isPinned
        guard let fraction = availability.fraction, availability.storedBytes > 0 else { return }
        // Rounded down, so that 100 % means all.
        cached = availability.isComplete ? glyphs.whole : SafeText("\(min(99, Int(fraction * 100))) %")
        guard let end = availability.playsTo, !availability.isComplete, end > .zero else { return }
        playsTo = SafeText("to \(end.clockTime)")
    }

    /// Title and artist of a track if known, else its file's name.
    static func name(of track: Track, tags better: TrackTags?, glyphs: Glyphs) -> SafeText {
        let tags = tags(of: track, better: better)
        let title = tags.title ?? track.location.name
        guard let artist = tags.artist, !artist.isEmpty else { return title }
        return title + " " + glyphs.dash + " " + artist
    }

    private static func tags(of track: Track, better: TrackTags?) -> TrackTags {
        better?.filled(from: track.tags) ?? track.tags
    }
}

extension PlayerSnapshot.State {
    /// `true` if the current track is open: playing, paused or buffering.
    fileprivate var isHeard: Bool {
        switch self {
        case .playing, .paused, .buffering: true
        case .stopped, .opening, .ended: false
        }
    }
}
