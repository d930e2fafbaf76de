import Media

// The tracks of the sources, and what is found out about them.
extension PlayerState {
    /// The sources, or the next part of them, are read. Once the first part is, plays track `start` (from 1),
    /// or else the first in playing order, and carries out the commands that waited for the tracks.
    mutating func launched(
        _ sources: ResolvedTracks,
        start: Int?,
        position: Duration,
        isComplete: Bool
    ) -> [PlayerEffect] {
        let tracks = sources.tracks
        let place = queue.tracks.count
        queue.append(tracks)
        isReading = !isComplete
        guard phase == .launching else {
            let problems = sources.problems.flatMap { announcer.problem($0) }
            return problems + (tracks.isEmpty ? [] : extended(at: place)) + obeyHeld()
        }
        var effects = announcer.launched(with: sources.problems, of: tracks.isEmpty ? startSources.last : nil)
        effects.append(.emit(.loaded(tracks: tracks.count)))
        phase = tracks.isEmpty && exitsAtEnd ? .ended : .stopped
        guard !tracks.isEmpty else { return effects + obeyHeld() }
        if let start, start > tracks.count { effects += announcer.noStart(start, of: tracks.count) }
        let first = start.map { place + min($0, tracks.count) - 1 } ?? queue.next(after: nil) ?? place
        if start != nil { queue.bringForward(first) }
        return effects + begin(first, at: position) + obeyHeld()
    }

    /// Tracks were added at `place`. If all earlier ones were played, playing goes on with these.
    private mutating func extended(at place: Int) -> [PlayerEffect] {
        let loaded = PlayerEffect.emit(.loaded(tracks: queue.tracks.count))
        guard phase == .ended else { return [loaded] + dropStalePreparation() }
        return [loaded] + begin(queue.next(after: queue.current) ?? place, at: .zero)
    }

    /// A source takes long to read. A `next` that waits for the first track passes over it.
    mutating func reading(_ count: Int, of source: SafeText?, isAddition: Bool) -> [PlayerEffect] {
        let place = isAddition ? \PlayerState.awaitedAddition : \PlayerState.awaitedSource
        let isNew = source != self[keyPath: place]
        self[keyPath: place] = source
        guard let source, isNew || phase == .launching else { return [] }
        let remark = announcer.reading(phase == .launching ? count : 0, of: source)
        return [remark] + (phase == .launching && heldCommands.dropNext() ? passOverSource() ?? [] : [])
    }

    /// If playing waits for a slow source of the command line, passes over that source, so that the tracks
    /// read behind it play; otherwise returns `nil`.
    mutating func passOverSource() -> [PlayerEffect]? {
        guard phase == .launching || (phase == .ended && isReading), let awaitedSource else { return nil }
        return [announcer.passedOver(awaitedSource), .passOverSource]
    }

    mutating func added(
        _ found: [Track],
        _ problems: [MediaError],
        isLast: Bool,
        of source: String?
    ) -> [PlayerEffect] {
        let place = queue.tracks.count
        queue.add(found, of: source, isLast: isLast)
        let count = queue.tracks.count - place
        let isOpened = source != nil && source == openedSource
        // Only what the user named is offered to be typed again.
        let isForeign = source.map(foreignSources.contains) == true
        if isLast, let source { foreignSources.remove(source) }
        let failed = found.isEmpty && !isForeign ? source.map { PlayerCommand.add($0) } : nil
        var effects = problems.flatMap { announcer.problem($0, failed: failed) }
        effects += announcer.added(
            count,
            known: found.count - count,
            problems,
            isLast: !queue.awaitsAdditions,
            failed: failed
        )
        let opened = isOpened ? openedPlace(of: found, addedAt: place) : nil
        if isLast, isOpened { openedSource = nil }
        if let opened {
            openedSource = nil
            currentPause = nil
            queue.bringForward(opened)
            effects += queueEvents() + [.emit(.loaded(tracks: queue.tracks.count))] + begin(opened, at: .zero)
        } else if count > 0 {
            effects += queueEvents()
            // A person adds music to hear it. A script has to send `play` after `stop`.
            if isInteractive, phase == .stopped || phase == .ended {
                queue.bringForward(place)
                effects += [.emit(.loaded(tracks: queue.tracks.count))] + begin(place, at: .zero)
            } else {
                effects += extended(at: place)
            }
        }
        return effects + obeyHeld()
    }

    /// The place of the first of the tracks that an `open` has `found`: `place` if some of them were added
    /// there, or else that of the first one, which the queue had already.
    private func openedPlace(of found: [Track], addedAt place: Int) -> Int? {
        if place < queue.tracks.count { return place }
        return found.first.flatMap { first in queue.tracks.firstIndex { $0.location == first.location } }
    }

    /// Carries out the commands that waited for tracks, as far as these are known. Then ends the player if
    /// its queue was played to its end and no more tracks are awaited.
    mutating func obeyHeld() -> [PlayerEffect] {
        heldCommands.release()
        var effects: [PlayerEffect] = []
        while phase != .over, let command = heldCommands.takeDue() {
            effects += obey(command, isInTurn: true)
        }
        return effects + (phase == .ended ? endOfQueue() : [])
    }

    /// A queue that was sorted, and not changed since, is sorted again once all tags are known.
    mutating func factsFound(_ found: [Track.ID: TrackFacts], isLast: Bool) -> [PlayerEffect] {
        announcer.learn(found)
        guard isLast, queue.sortAgain(facts: announcer.facts) else { return [] }
        announcer.note("Sorted again, by the tags that were read since")
        return dropStalePreparation()
    }

    /// A track is a list instead of music: its tracks take its place.
    mutating func listFound(_ id: PassID, _ list: ResolvedTracks) -> [PlayerEffect] {
        guard let pass = lane[id], let place = queue.place(of: pass.track.id) else { return [] }
        let problems = list.problems.flatMap { announcer.problem($0) }
        // Also if the track is being repeated, and has become a list since.
        let isCurrent = lane.current?.track.id == pass.track.id
        let left = isCurrent ? leave() : []
        let first = queue.replace(place, by: list.tracks)
        let loaded = queueEvents() + [.emit(.loaded(tracks: queue.tracks.count))]
        // A prepared pass is cancelled, since its track is no longer the next one.
        return problems + left + loaded + (isCurrent ? begin(first, at: .zero) : dropStalePreparation())
    }
}
