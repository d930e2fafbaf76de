import Media

// What the shell asks before it hands an input over.
extension PlayerState {
    /// Whether the sink takes frames.
    var isSounding: Bool { output.isRunning }

    /// Whether what is in the ring is the last.
    var isFinishing: Bool { output.isFinishing }

    /// Whether `input` will cut off music that is heard, as far as can be told from what was heard by the last
    /// input. Costs the same however long the queue is.
    func willCut(_ input: PlayerInput) -> Bool {
        guard output.isRunning, phase == .active, let run = runs.first else { return false }
        switch input {
        case .command(let command): return willCut(command, run)
        case .runFailed(run.id, let error, let frames):
            // Frames that came before the failure are heard to their end.
            let isChanged = error.code == .resourceChanged && !run.isAfterChange
            return isChanged || run.stage != .writing || frames == 0
        default: return false
        }
    }

    /// Whether sound of the track at `place` is in the ring, or on its way there.
    func isWritten(_ place: Int) -> Bool {
        let id = queue.tracks[place].id
        return runs.contains { $0.track.id == id && $0.id != prepared?.id }
    }

    private func willCut(_ command: PlayerCommand, _ run: Run) -> Bool {
        switch command {
        case .pause, .toggle, .stop, .next, .previous, .clear, .reload, .quit: true
        case .jump(let number): queue.tracks.indices.contains(number - 1)
        case .seek(.percent): run.isSeekable && duration != nil
        case .seek: run.isSeekable
        case .remove(let number): queue.tracks.indices.contains(number - 1) && isWritten(number - 1)
        case .play, .volume, .changeVolume, .mute, .shuffle, .setRepeat, .setGain, .add, .move, .save,
            .pin, .status:
            false
        }
    }
}
