import Media

// The positions at which tracks begin, and the episodes of podcasts.
extension PlayerState {
    /// `true` if the episode of `pass` was played. Reads the queue, since the pass has an older copy of its
    /// track.
    func isPlayed(_ pass: Pass) -> Bool {
        pass.track.episode != nil && queue.place(of: pass.track.id).map { queue.tracks[$0].isPlayed } == true
    }

    /// Marks the episodes at `places`, and announces the current track again if it is one of them.
    mutating func setPlayed(_ isPlayed: Bool, at places: RangeSet<Int>) -> [PlayerEffect] {
        let episodes = queue.setPlayed(isPlayed, at: places)
        guard !episodes.isEmpty else { return [] }
        let current = lane.current?.track.episode?.key
        let isCurrent = current != nil && episodes.contains { $0.key == current }
        return [.rememberPlayed(isPlayed, episodes)] + (isCurrent ? announceCurrent() : [])
    }

    /// Marks the current episode as played once it was heard to near its end. The second half of a short
    /// episode counts as near.
    mutating func markHeard(_ pass: Pass) -> [PlayerEffect] {
        guard let duration, !isPlayed(pass), position >= duration / 2,
            duration - position <= Episode.playedMargin, reachesEnd(pass)
        else { return [] }
        return markPlayed(pass)
    }

    /// `true` if the pass began before the end of its track, so that it reaches the end by playing. After a
    /// seek to the end, nothing is heard.
    func reachesEnd(_ pass: Pass) -> Bool { pass.duration.map { pass.start < $0 } ?? true }

    /// Reports where a long track or an episode continues, once it becomes current.
    mutating func noteResumption() {
        guard let pass = lane.current, pass.start > .zero, pass.id == pass.playing,
            pass.start == queue.memory?.resumePoint(of: pass.track)
        else { return }
        announcer.note(SafeText("Continuing at \(pass.start.clockTime) · seek 0 starts over"))
    }

    /// If the pass was to begin past the end of its track, which is known only now, starts the track from its
    /// beginning; otherwise returns `nil`. An estimated end counts only if the decoder found no music behind
    /// it.
    mutating func startOver(_ pass: Pass) -> [PlayerEffect]? {
        guard lane.isCurrent(pass.id), !pass.answersSeek, pass.framesBefore == 0,
            let duration = pass.duration, pass.start > .zero, pass.start >= duration,
            pass.info?.isDurationExact != false || position + .seconds(1) < pass.start
        else { return nil }
        return announce(pass) + [tooShort(duration)] + restart(at: .zero)
    }

    mutating func tooShort(_ duration: Duration) -> PlayerEffect {
        announcer.badCommand("The track is \(duration.clockTime) long")
    }

    mutating func markPlayed(_ pass: Pass) -> [PlayerEffect] {
        guard pass.track.episode != nil, let place = queue.place(of: pass.track.id) else { return [] }
        return setPlayed(true, at: RangeSet(place..<place + 1))
    }

    /// Marks episodes as played or not played, the current track without `numbers`; refuses other tracks.
    mutating func setPlayed(_ isPlayed: Bool, _ numbers: TrackNumbers?) -> [PlayerEffect] {
        let numbers = numbers ?? currentNumber
        guard numbers.highest <= queue.tracks.count else { return [noTrack(numbers.highest)] }
        let count = numbers.places.ranges.joined().count { queue.tracks[$0].episode != nil }
        guard count > 0 else {
            return [announcer.badCommand("Only episodes of a podcast feed can be marked as played")]
        }
        let remembering = setPlayed(isPlayed, at: numbers.places)
        let text = "Marked \(CountText.of(count, "episode")) as \(isPlayed ? "" : "not ")played"
        let answer = announcer.remark(isPlayed ? "played" : "unplayed", SafeText(text))
        return [answer] + remembering
    }

    /// The network is lost. Opens the episodes that wait for their first bytes again: those that are cached
    /// under an earlier URL will do.
    mutating func reopenEpisodes() -> [PlayerEffect] {
        let waiting = lane.passes.filter { $0.stage == .opening && $0.track.episode != nil }
        return waiting.flatMap { reopen($0, after: 0) }
    }
}
