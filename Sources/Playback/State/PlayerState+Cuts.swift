import Media

// What the shell asks before it hands an input over.
extension PlayerState {
    /// Whether the sink takes frames.
    var isSounding: Bool { output.isRunning }

    /// Whether what is in the ring is the last.
    var isFinishing: Bool { output.isFinishing }

    /// Whether `input`, which comes at `now`, will cut off music that is heard, as far as can be told from what was heard
    /// by the last input. Costs the same however long the queue is, but for the removing of tracks.
    func willCut(_ input: PlayerInput, at now: Duration) -> Bool {
        guard output.isRunning, phase == .active, let pass = passes.first else { return false }
        switch input {
        case .command(let command): return !mustWait(command) && cuts(command, pass, now)
        // What waited for it comes right behind.
        case .launched: return held.contains { cuts($0, pass, now) }
        case .passFailed(pass.id, let error, let frames):
            // Frames that came before the failure are heard to their end.
            let isChanged = error.code == .resourceChanged && !pass.isAfterChange
            return isChanged || pass.stage != .writing || frames == 0
        default: return false
        }
    }

    /// Whether sound of one of the tracks at `places` is in the ring, or on its way there.
    func areWritten(_ places: RangeSet<Int>) -> Bool {
        passes.contains { pass in
            pass.id != prepared?.id && queue.place(of: pass.track.id).map { places.contains($0) } == true
        }
    }

    private func cuts(_ command: PlayerCommand, _ pass: Pass, _ now: Duration) -> Bool {
        switch command {
        case .pause, .toggle, .stop, .next, .previous, .clear, .reload, .quit: true
        case .jump(let number): queue.isIncomplete || queue.tracks.indices.contains(number - 1)
        case .seek(.percent) where duration == nil: false
        case .seek(let target): pass.isSeekable && !isRepeated(target, in: pass, at: now)
        case .remove(let numbers):
            (queue.isIncomplete || numbers.highest <= queue.tracks.count) && areWritten(numbers.places)
        case .undo: queue.history.lastAddition.map { areWritten(RangeSet($0)) } ?? false
        case .play, .volume, .changeVolume, .mute, .shuffle, .shuffleNow, .setRepeat, .setGain, .add, .move,
            .sort, .save, .pin, .status:
            false
        }
    }
}
