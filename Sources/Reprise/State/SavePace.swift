import Media

/// Decides when what plays is worth writing down. Pure: the time comes in.
///
/// Asked only when there is news of the player, so an idle one is never woken.
struct SavePace: Sendable {
    /// What a power cut may cost of the position.
    static let interval = Duration.seconds(30)
    /// Keys that are held down are not written one by one.
    static let shortest = Duration.seconds(2)

    /// What is worth a write of its own.
    struct Essence: Sendable, Equatable {
        var tracks: [Track]
        var current: Track.ID?
        var isPaused: Bool
        var volume: Int
        var repeatMode: RepeatMode
        var isShuffled: Bool
        var gainMode: GainMode
    }

    private var saved: Essence?
    private var savedAt = Duration.zero

    /// Whether to save now; counted as saved then.
    mutating func isDue(_ essence: Essence, isMoving: Bool, at now: Duration) -> Bool {
        let age = now - savedAt
        guard saved == nil || age >= Self.shortest else { return false }
        guard saved != essence || (isMoving && age >= Self.interval) else { return false }
        saved = essence
        savedAt = now
        return true
    }
}

extension SavePace.Essence {
    init(_ snapshot: PlayerSnapshot) {
        self.init(
            tracks: snapshot.tracks,
            current: snapshot.currentIndex.flatMap {
                snapshot.tracks.indices.contains($0) ? snapshot.tracks[$0].id : nil
            },
            isPaused: snapshot.state == .paused,
            volume: snapshot.volume,
            repeatMode: snapshot.repeatMode,
            isShuffled: snapshot.isShuffled,
            gainMode: snapshot.gainMode
        )
    }
}
