import Media

/// Decides what the player does about the machine's power: which inhibitors of logind it holds, and how it
/// gets ready for sleep. Pure.
struct PowerState: Sendable {
    enum Inhibitor: Sendable, Equatable {
        /// Makes the machine wait with its sleep until the player is ready.
        case delay
        /// Forbids what the user has chosen, while music plays.
        case block
    }

    enum Action: Sendable, Equatable {
        /// If logind refuses the inhibitor, a later `release` of it does nothing.
        case hold(Inhibitor)
        case release(Inhibitor)
        case pause
        case play
        /// Saves the place; `placeSaved` follows.
        case savePlace
    }

    enum Music: Sendable, Equatable {
        case playing
        /// A track is being opened, or bytes are awaited.
        case awaited
        /// The same, without a network: nobody knows until when.
        case stalled
        case paused
        /// Stopped, or played to its end.
        case silent

        init(_ snapshot: PlayerSnapshot) {
            switch snapshot.state {
            case .playing: self = .playing
            case .opening, .buffering: self = snapshot.connectivity.isOffline ? .stalled : .awaited
            case .paused: self = .paused
            case .stopped, .ended: self = .silent
            }
        }

        /// `true` if music is heard, or will be without a command.
        var isWanted: Bool { self != .paused && self != .silent }
    }

    private enum Phase: Sendable {
        case awake
        /// The machine waits until the music is paused.
        case pausing
        /// The machine waits until the place is saved.
        case saving
        case asleep
    }

    private let blocks: Bool
    private let resumes: Bool
    private var music: Music
    private var phase = Phase.awake
    /// `true` if the music was paused for the sleep, and nobody has touched it since.
    private var isPausedForSleep = false
    private var holdsDelay = false
    private var holdsBlock = false

    /// With `blocks` the machine may not do what the user has chosen while music plays; with `resumes` music
    /// that was paused for the sleep goes on after it.
    init(blocks: Bool, resumes: Bool, music: Music) {
        self.blocks = blocks
        self.resumes = resumes
        self.music = music
    }

    // MARK: Events

    /// logind is there, which is the first event, or has started again, and forgot a sleep that was near.
    mutating func logindAppeared() -> [Action] {
        phase = .awake
        isPausedForSleep = false
        holdsDelay = true
        return [.hold(.delay)] + (holdsBlock ? [.hold(.block)] : updateBlock())
    }

    mutating func musicChanged(to new: Music) -> [Action] {
        guard exchange(&music, with: new) != new else { return [] }
        let actions = updateBlock()
        switch phase {
        case .awake: return actions
        case .pausing: return new.isWanted ? actions : actions + savePlace()
        case .saving, .asleep:
            isPausedForSleep = isPausedForSleep && new == .paused
            return actions
        }
    }

    /// The machine is about to sleep.
    mutating func sleepNears() -> [Action] {
        guard phase == .awake else { return [] }
        isPausedForSleep = music.isWanted
        guard music.isWanted else { return savePlace() }
        phase = .pausing
        return [.pause]
    }

    mutating func placeSaved() -> [Action] {
        guard phase == .saving else { return [] }
        phase = .asleep
        holdsDelay = false
        return [.release(.delay)]
    }

    /// The machine has slept, or does not sleep after all.
    mutating func woke() -> [Action] {
        guard phase != .awake else { return [] }
        phase = .awake
        let goesOn = resumes && isPausedForSleep
        isPausedForSleep = false
        let delay: [Action] = holdsDelay ? [] : [.hold(.delay)]
        holdsDelay = true
        return delay + (goesOn ? [.play] : [])
    }

    // MARK: Decisions

    private mutating func savePlace() -> [Action] {
        phase = .saving
        return [.savePlace]
    }

    /// The inhibitor stays during an interruption of the music that will end by itself.
    private mutating func updateBlock() -> [Action] {
        let wanted = blocks && (music == .playing || holdsBlock && music == .awaited)
        guard wanted != holdsBlock else { return [] }
        holdsBlock = wanted
        return [wanted ? .hold(.block) : .release(.block)]
    }
}
