import Media

// The tracks that the player begins with, and those that are added later.
extension PlayerState {
    /// Begins with `tracks`, the first of all, where what is played first does not depend on the others. Nothing is
    /// told of how many there are before `launched` brings all of them.
    mutating func begun(_ tracks: [Track], start: Int?, position: Duration) -> [PlayerEffect] {
        let first = (start ?? 1) - 1
        guard phase == .launching, queue.tracks.isEmpty, !queue.isShuffled, tracks.indices.contains(first),
            !held.contains(where: { needsMore($0, than: tracks.count) })
        else { return [] }
        queue.begin(with: tracks)
        return begin(first, at: position) + obeyHeld()
    }

    mutating func launched(
        _ tracks: [Track],
        _ problems: [MediaError],
        start: Int?,
        position: Duration
    ) -> [PlayerEffect] {
        let isBegun = queue.isIncomplete
        let place = queue.tracks.count
        if isBegun { queue.complete(with: tracks) } else { queue.append(tracks, using: &random) }
        var effects = problems.flatMap { problem($0) }
        effects.append(.emit(.loaded(tracks: tracks.count)))
        guard !isBegun else { return effects + goOn() + obeyHeld() }
        guard phase == .launching else { return effects }
        phase = .stopped
        guard !tracks.isEmpty else { return effects + (exitsAtEnd ? endOfQueue() : obeyHeld()) }
        if let start, start > tracks.count { effects.append(misuse("there is no track \(start)")) }
        let first = start.map { place + min($0, tracks.count) - 1 } ?? queue.next(after: nil) ?? place
        if start != nil { queue.bringForward(first) }
        return effects + begin(first, at: position) + obeyHeld()
    }

    /// Begins the track that was waited for when the first ones had ended before the others were known.
    private mutating func goOn() -> [PlayerEffect] {
        guard phase == .launching else { return [] }
        phase = .stopped
        guard let next = queue.next(after: queue.current), consecutiveFailures < queue.tracks.count else {
            // Who waits may find something to play.
            phase = .ended
            isPaused = false
            let effects = obeyHeld()
            return phase == .ended ? effects + endOfQueue() : effects
        }
        return begin(next, at: .zero)
    }

    private mutating func obeyHeld() -> [PlayerEffect] {
        let commands = held
        held = []
        return commands.flatMap { phase == .over ? [] : obey($0) }
    }

    mutating func added(_ tracks: [Track], _ problems: [MediaError]) -> [PlayerEffect] {
        queue.add(tracks, joins: joinsAdditions, using: &random)
        awaitedAdditions = max(0, awaitedAdditions - 1)
        // A list that was pasted is undone as a whole.
        joinsAdditions = awaitedAdditions > 0 && (joinsAdditions || !tracks.isEmpty)
        let notices = problems.flatMap { problem($0) }
        guard !tracks.isEmpty else { return notices }
        note(SafeText(Self.countText(tracks.count) + " added"))
        return notices + [.emit(.loaded(tracks: queue.tracks.count))] + dropStalePreparation()
    }
}
