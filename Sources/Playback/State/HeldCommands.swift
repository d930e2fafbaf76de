import Media

/// The commands that wait for tracks that are still being read, in their order. Pure.
///
/// A script's commands that change the queue, except `add`, wait for the tracks that are being read. All
/// commands of a script that change the queue, and its `save` and `quit`, also wait behind the commands that
/// already wait. Its other commands do not, so that playing can be controlled while a slow server delays a
/// `save`.
struct HeldCommands: Sendable {
    /// How many of the requested tracks are known.
    enum Knowledge: Sendable {
        /// The sources are being read.
        case none
        /// More tracks of the sources, or of an `add`, are being read.
        case some
        case all
    }

    private var commands: [PlayerCommand] = []
    /// The commands that have waited and are carried out now.
    private var due: ArraySlice<PlayerCommand> = []

    var count: Int { due.count + commands.count }
    /// `true` while further commands follow the present one: until they are carried out, the player does not
    /// end with its queue.
    var hasDue: Bool { !due.isEmpty }
    var unsavedPaths: [String] {
        (due + commands).compactMap { if case .save(let path) = $0 { path } else { nil } }
    }

    /// Holds `command` and returns `true` if it has to wait; `isInTurn` is `true` for that of a script.
    mutating func hold(_ command: PlayerCommand, isInTurn: Bool, _ known: Knowledge) -> Bool {
        let traits = command.traits
        let waits =
            switch known {
            case .none: traits.contains(.needsTracks)
            case .some:
                traits.contains(.needsAllTracks) || (isInTurn && traits.contains(.changesKnownTracks))
            case .all: false
            }
        guard waits || (isInTurn && !commands.isEmpty && traits.contains(.takesTurns)) else { return false }
        commands.append(command)
        return true
    }

    /// Removes the first `next`; returns `false` if there is none.
    mutating func dropNext() -> Bool {
        guard let place = commands.firstIndex(of: .next) else { return false }
        commands.remove(at: place)
        return true
    }

    /// The tracks are known for which the commands have waited: from now on `takeDue` returns the commands.
    mutating func release() {
        due += commands
        commands = []
    }

    /// Removes the next command to be carried out; it may have to be held again.
    mutating func takeDue() -> PlayerCommand? { due.popFirst() }
}

extension PlayerCommand {
    struct Traits: OptionSet {
        let rawValue: Int

        /// It has no meaning before the tracks are known. Order and repetition can be chosen earlier: they
        /// decide what is played first.
        static let needsTracks = Traits(rawValue: 1)
        /// It concerns all requested tracks.
        static let needsAllTracks = Traits(rawValue: 2)
        /// It requests music that may not be cached.
        static let wantsMusic = Traits(rawValue: 4)
        /// It changes or saves the queue, or ends the player.
        static let takesTurns = Traits(rawValue: 8)
        /// It changes the queue otherwise than by adding tracks.
        static let changesKnownTracks = Traits(rawValue: 16)
    }

    var traits: Traits {
        switch self {
        case .play, .toggle, .next, .previous, .jump, .seek, .setPosition, .chapter, .reload:
            [.needsTracks, .wantsMusic]
        case .pause, .stop, .stopAfter, .sleep, .pin, .setPinned, .download, .changeDownloads, .setPlayed:
            .needsTracks
        case .add, .open: [.needsTracks, .wantsMusic, .takesTurns]
        case .remove, .move, .playNext, .sort, .shuffleNow, .clear, .clearOthers, .undo:
            [.needsTracks, .takesTurns, .changesKnownTracks]
        case .save: [.needsTracks, .needsAllTracks, .takesTurns]
        case .quit: .takesTurns
        case .volume, .changeVolume, .mute, .listDevices, .setDevice, .setShuffle, .setRepeat, .setGain,
            .setAhead, .status, .list,
            .stopReading:
            []
        }
    }
}
