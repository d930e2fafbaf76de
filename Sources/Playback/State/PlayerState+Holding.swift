import Media

// Commands that wait until the sources are known.
extension PlayerState {
    /// Whether `command` is obeyed only once all sources are known, behind those that wait already.
    func mustWait(_ command: PlayerCommand) -> Bool {
        if phase == .launching, command.isAboutTracks { return true }
        guard queue.isIncomplete else { return false }
        if needsMore(command, than: queue.tracks.count) { return true }
        guard !held.isEmpty, command.isAboutTracks else { return false }
        switch command {
        case .play, .pause, .toggle, .stop: return false
        // It is about the track that is current when its turn comes.
        case .seek, .reload: return held.contains { $0.changesTrack }
        default: return true
        }
    }

    /// What is obeyed at once and has to hold behind a command that waits, too: a pause that was asked for after a jump
    /// is about the track that the jump leads to, and still nobody waits for it.
    func obeyedAgain(_ command: PlayerCommand) -> PlayerCommand? {
        guard queue.isIncomplete, held.contains(where: { $0.changesTrack }) else { return nil }
        switch command {
        case .play, .pause, .stop: return command
        case .toggle: return phase == .active && !isPaused ? .pause : .play
        default: return nil
        }
    }

    /// Whether what `command` does depends on the tracks behind the first `count`, or on whether there are any.
    func needsMore(_ command: PlayerCommand, than count: Int) -> Bool {
        switch command {
        case .jump(let number), .pin(.some(let number)): number > count
        case .next: queue.current == count - 1
        case .previous: queue.current == 0 && queue.repeatMode == .all && !goesBackToStart
        // It would tell how many tracks there are.
        case .status: passes.isEmpty
        case .shuffle, .shuffleNow, .add, .remove, .move, .sort, .clear, .undo, .save: true
        case .play, .pause, .toggle, .stop, .seek, .volume, .changeVolume, .mute, .setRepeat, .setGain,
            .reload, .pin(nil), .quit:
            false
        }
    }
}

extension PlayerCommand {
    /// Whether another track may be current after it.
    fileprivate var changesTrack: Bool {
        switch self {
        case .next, .previous, .jump, .remove, .clear, .undo: true
        case .play, .pause, .toggle, .stop, .seek, .volume, .changeVolume, .mute, .shuffle, .shuffleNow,
            .setRepeat, .setGain, .add, .move, .sort, .save, .reload, .pin, .status, .quit:
            false
        }
    }

    /// Whether it means nothing before the sources are known. The order and the repetition can be chosen
    /// before: they decide what is played first.
    fileprivate var isAboutTracks: Bool {
        switch self {
        case .volume, .changeVolume, .mute, .shuffle, .setRepeat, .setGain, .status, .quit: false
        case .play, .pause, .toggle, .stop, .next, .previous, .jump, .seek, .add, .remove, .move, .sort,
            .shuffleNow, .clear, .undo, .save, .reload, .pin:
            true
        }
    }
}
