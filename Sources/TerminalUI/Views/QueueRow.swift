package import Media

/// One track as the list shows it.
package struct QueueRow: Equatable {
    /// One column: playing, paused, waiting, failed or nothing.
    package var mark: SafeText
    /// Title and artist; of a failed track the reason too.
    package var text: SafeText
    /// How much of it is here, as `42 %, to 3:10`; empty where nothing is.
    package var kept: SafeText
    /// Empty while unknown.
    package var duration: SafeText
    package var style: Style

    /// The row of the track at `index`, which must be in the queue.
    package init(_ player: PlayerSnapshot, index: Int, glyphs: Glyphs) {
        let track = player.tracks[index]
        let isCurrent = index == player.currentIndex
        let name = Self.name(of: track, info: isCurrent ? player.info : nil, glyphs: glyphs)
        let known = isCurrent ? player.duration ?? track.duration : track.duration
        duration = known.map { SafeText($0.clockTime) } ?? ""
        kept = player.availability[track.id].map { Self.text($0) } ?? ""
        // A track that failed once can play at the next try: what is heard has not failed.
        if let reason = player.failures[track.id], !(isCurrent && player.state.isHeard) {
            (mark, text, style) = (glyphs.failed, name + ": " + reason, .error)
        } else if isCurrent {
            (mark, text, style) = (glyphs.sign(of: player.state), name, .playing)
        } else {
            (mark, text, style) = (" ", name, .normal)
        }
    }

    private static func text(_ kept: Availability) -> SafeText {
        let pin = kept.isPinned ? "pinned " : ""
        // Cut, so that 100 is the whole and nothing less.
        guard let fraction = kept.fraction else { return SafeText(pin) }
        let part = pin + "\(Int(fraction * 100)) %"
        guard let end = kept.playsTo, !kept.isComplete, end > .zero else { return SafeText(part) }
        return SafeText("\(part), to \(end.clockTime)")
    }

    /// What to call a track: title and artist where they are known, else its file's name.
    static func name(of track: Track, info: StreamInfo?, glyphs: Glyphs) -> SafeText {
        let tags = info?.tags.filled(from: track.tags) ?? track.tags
        let title = tags.title ?? track.location.name
        guard let artist = tags.artist, !artist.isEmpty else { return title }
        return title + " " + glyphs.dash + " " + artist
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
