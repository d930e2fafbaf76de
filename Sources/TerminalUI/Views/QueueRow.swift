package import Media

/// One track as the list shows it. Pure.
package struct QueueRow: Equatable {
    /// One column: playing, paused, waiting, failed or nothing.
    package var mark: SafeText
    package var isMarked = false
    package var title: SafeText
    /// Empty where it is not known.
    package var artist: SafeText
    /// Why it failed; empty where it did not.
    package var failure: SafeText = ""
    /// How much of it is here: a sign for all, a percentage for a part, nothing for nothing.
    package var kept: SafeText = ""
    /// How far it plays without the network, where that is not to its end.
    package var playsTo: SafeText = ""
    package var isPinned = false
    /// Empty while unknown.
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
        // A track that failed once can play at the next try: what is heard has not failed.
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

    /// What to call the track in one line.
    package func name(glyphs: Glyphs) -> SafeText {
        artist.isEmpty ? title : title + " " + glyphs.dash + " " + artist
    }

    /// What is here of a track; of the current one it is known to the byte, also before it is committed,
    /// and the bar says how far it plays.
    private static func availability(
        of track: Track,
        isCurrent: Bool,
        _ player: PlayerSnapshot
    ) -> Availability? {
        let known = player.availability[track.id]
        guard isCurrent, player.load.isKept, let length = player.load.length, case .web = track.location
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
        // Cut, so that all is the whole and nothing less.
        kept = availability.isComplete ? glyphs.whole : SafeText("\(min(99, Int(fraction * 100))) %")
        guard let end = availability.playsTo, !availability.isComplete, end > .zero else { return }
        playsTo = SafeText("to \(end.clockTime)")
    }

    /// What to call a track: title and artist where they are known, else its file's name.
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
    /// Whether the current track has been opened and its music goes on, pauses or waits for bytes.
    fileprivate var isHeard: Bool {
        switch self {
        case .playing, .paused, .buffering: true
        case .stopped, .opening, .ended: false
        }
    }
}
