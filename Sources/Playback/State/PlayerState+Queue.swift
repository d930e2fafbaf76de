import Media

// Changes of the queue, and what they mean for the music.
extension PlayerState {
    mutating func add(_ source: String) -> [PlayerEffect] {
        awaitedAdditions += 1
        return [.resolve(source)]
    }

    mutating func remove(_ numbers: TrackNumbers) -> [PlayerEffect] {
        guard numbers.count > 0, numbers.highest <= queue.tracks.count else {
            return [misuse("there is no track \(numbers.highest)")]
        }
        return dropping(numbers.places) { $0.queue.remove(numbers.places) }
    }

    /// What is to be done when `change` takes the tracks at `places` from the queue.
    private mutating func dropping(
        _ places: RangeSet<Int>,
        by change: (inout PlayerState) -> Void
    ) -> [PlayerEffect] {
        let isCurrent = phase == .active && queue.current.map { places.contains($0) } == true
        // Sound of theirs is in the ring already, behind that of the current track, which is then decoded again.
        let isCut = phase == .active && !isCurrent && areWritten(places)
        let effects = isCurrent ? leave(.skipped) + cancelPasses() + silence() : []
        if !failures.isEmpty {
            for place in places.ranges.joined() { failures[queue.tracks[place].id] = nil }
        }
        change(&self)
        guard isCurrent else {
            return isCut ? restart(at: position, answersSeek: false) : dropStalePreparation()
        }
        guard let successor = queue.current else { return effects + endOfQueue() }
        return effects + begin(successor, at: .zero)
    }

    mutating func move(_ numbers: TrackNumbers, to target: Int) -> [PlayerEffect] {
        let all = 1...max(1, queue.tracks.count)
        guard numbers.count > 0, numbers.highest <= queue.tracks.count, all.contains(target) else {
            return [misuse("there are tracks 1 to \(queue.tracks.count)")]
        }
        queue.move(numbers.places, to: target - 1)
        return dropStalePreparation()
    }

    mutating func sort(by key: SortKey) -> [PlayerEffect] {
        queue.sort(by: key, facts: learned)
        return dropStalePreparation()
    }

    mutating func shuffleNow() -> [PlayerEffect] {
        queue.shuffleNow(using: &random)
        return dropStalePreparation()
    }

    mutating func clear() -> [PlayerEffect] {
        let effects = stop()
        queue.clear()
        failures = [:]
        return effects
    }

    static func countText(_ count: Int) -> String { count == 1 ? "1 track" : "\(count) tracks" }

    static func savedText(_ count: Int, _ path: String) -> SafeText {
        SafeText("\(countText(count)) saved as \(path)")
    }

    mutating func saved(_ count: Int, _ path: String) -> [PlayerEffect] {
        let message = Self.savedText(count, path)
        note(message)
        return [.emit(.remark(code: "saved", message: message))]
    }

    /// The music goes on as it is, unless it is among what was added: only the list is as it was.
    mutating func undo() -> [PlayerEffect] {
        let added = queue.history.lastAddition.map { RangeSet($0) } ?? RangeSet()
        var step: QueueStep?
        let effects = dropping(added) { $0.takeBack(&step) }
        guard let step else { return [misuse("there is nothing to undo")] }
        note(step.undoneText)
        return [.emit(.remark(code: "undone", message: step.undoneText))] + effects
    }

    private mutating func takeBack(_ step: inout QueueStep?) {
        step = queue.undo(using: &random)
        // What is still being read of a list is another step then.
        joinsAdditions = false
    }
}
