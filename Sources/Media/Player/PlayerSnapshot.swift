/// Everything a view shows of the player, at one moment. Replaced whole, never edited.
package struct PlayerSnapshot: Sendable, Equatable {
    package enum State: String, Sendable {
        case stopped
        case opening
        case playing
        case paused
        case buffering
        case ended
    }

    package var state = State.stopped
    package var tracks: [Track] = []
    /// Goes up whenever `tracks` changes other than by additions at the end: with the same revision, what was derived
    /// from the first tracks still holds.
    package var queueRevision = 0
    /// Whether music has begun while the sources are still being read: more tracks come at the end.
    package var isIncomplete = false
    /// The place of the current track in `tracks`, from 0.
    package var currentIndex: Int?
    /// What the music itself said of the current track.
    package var info: StreamInfo?
    package var position = Duration.zero
    /// Whether `position` is the truth or an estimate.
    package var isExact = true
    package var duration: Duration?
    /// Seconds of music that are decoded or stored behind the position.
    package var buffered = Duration.zero
    /// The bytes of the current track.
    package var load = LoadReport()
    /// How long until the next attempt to reach the current track's bytes; nil while none is waited for.
    package var retryIn: Duration?
    /// The offset of the byte being heard, for the bar; nil while unknown.
    package var byteOffset: Int64?
    package var volume = 100
    package var isMuted = false
    package var isShuffled = false
    package var repeatMode = RepeatMode.off
    package var gainMode = GainMode.off
    /// What the current track is made louder by, in dB; nil where it is left as it is.
    package var gainDecibels: Double?
    /// What is here of the tracks that are kept, in part or whole; a track that is not in it is not kept.
    package var availability: [Track.ID: Availability] = [:]
    package var connectivity = ConnectivityReport()
    /// What music said of itself that was opened so far; playlists often say less.
    package var learned: [Track.ID: TrackFacts] = [:]
    /// Why tracks failed.
    package var failures: [Track.ID: SafeText] = [:]
    /// The newest messages, oldest first; at most 100.
    package var messages: [PlayerMessage] = []
    /// Bytes of all tracks so far.
    package var totalCachedBytes: Int64 = 0
    package var totalFetchedBytes: Int64 = 0
    /// Whether the player has ended and takes no more commands.
    package var isOver = false

    package init() {}
}

/// The player as its user interfaces see it.
package protocol PlayerControl: Sendable {
    /// Hands a command over; never waits.
    func send(_ command: PlayerCommand)

    /// The newest snapshot; never waits.
    var snapshot: PlayerSnapshot { get }

    /// Calls `observer` after each new snapshot, from any thread; it must only wake its user interface.
    func observe(_ observer: @escaping @Sendable () -> Void)

    /// Says whether anybody looks at the picture of the sound: while nobody does, none is made. Never waits.
    func watchSound(_ isWatched: Bool)

    /// The picture of what is heard at this moment; nil while none is made, and of moments that have none.
    /// Never waits.
    var soundPicture: SoundPicture? { get }
}

extension PlayerControl {
    /// A player without pictures has nothing to do here.
    package func watchSound(_ isWatched: Bool) {}

    package var soundPicture: SoundPicture? { nil }
}
