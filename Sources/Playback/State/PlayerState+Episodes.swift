import Media

// Episodes of podcasts: when they count as played, and what a lost network means for them.
extension PlayerState {
    /// Marks the current episode as played once it was heard to near its end. The second half of a short episode counts
    /// as near.
    mutating func markHeard(_ pass: Pass) -> [PlayerEffect] {
        guard let duration, pass.track.episode != nil, position >= duration / 2,
            duration - position <= Episode.playedMargin
        else { return [] }
        return markPlayed(pass.track)
    }

    /// Marks the episode of `track`, if it is one, as played.
    mutating func markPlayed(_ track: Track) -> [PlayerEffect] {
        guard track.episode != nil, let place = queue.place(of: track.id) else { return [] }
        let episodes = queue.setPlayed(true, at: RangeSet(place..<place + 1))
        return episodes.isEmpty ? [] : [.rememberPlayed(true, episodes)]
    }

    /// Opens the episodes that wait for their first bytes again: offline, bytes under an earlier URL will do.
    mutating func reopenEpisodes() -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        if let next = lane.prepared, next.stage == .opening, next.track.episode != nil {
            lane.removeLast()
            effects = [.cancelPass(next.id, keepsResource: false)] + followUp()
        }
        guard phase == .active, let pass = lane.current, pass.stage == .opening, pass.track.episode != nil
        else {
            return effects
        }
        return effects + restart(at: pass.start, answersSeek: false, reopens: true)
    }
}
