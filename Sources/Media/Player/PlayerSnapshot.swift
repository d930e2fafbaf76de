package import System

/// The state of the player for user interfaces at one moment. Replaced as a whole, never edited.
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
    /// `true` while sources are being read, from which tracks may follow.
    package var isReading = false
    /// The name of the source for which the player has waited for at least two seconds; `nil` if there is
    /// none.
    package var awaitedSource: SafeText?
    /// Incremented whenever `tracks` changes, except by additions at the end. While it stays the same, values
    /// derived from the first tracks stay valid.
    package var queueRevision = 0
    /// The index of the current track in `tracks`.
    package var currentIndex: Int?
    /// The places in `tracks` of those that are played next, in order, the first `mostUpcoming` of them.
    package var upcoming: [Int] = []
    package static let mostUpcoming = 50
    /// The stream of the current track, as its decoder describes it.
    package var info: StreamInfo?
    package var position = Duration.zero
    /// `true` if `position` is exact, `false` if it is an estimate.
    package var isExact = true
    package var duration: Duration?
    /// The titles of a live stream that were heard before the present one, oldest first; at most 10.
    package var earlierTitles: [SafeText] = []
    /// The parts of the current track that were heard since it began.
    package var heard = HeardSpans()
    /// The peaks of the current track, as far as it was decoded.
    package var waveform = Waveform()
    /// The duration of music that is cached from the position to the first gap.
    package var buffered = Duration.zero
    /// The loading of the current track.
    package var load = LoadReport()
    /// The time until the next attempt to load the current track; `nil` if no attempt is due.
    package var retryIn: Duration?
    /// The times at which the current track's bytes are played; `nil` if no track is open, or if its length
    /// or duration is unknown, as in a live stream.
    package var timeMap: TimeMap?
    /// The offset of the byte being heard; `nil` if unknown.
    package var byteOffset: Int64?
    package var volume = 100
    package var isMuted = false
    /// The name of the chosen sound device; `nil` follows the default of the audio server.
    package var device: String?
    /// `true` unless the current track is the last in playing order.
    package var hasNext = true
    /// `true` if `previous` plays the current track from its beginning.
    package var previousRestarts = false
    package var isShuffled = false
    package var repeatMode = RepeatMode.off
    package var gainMode = GainMode.off
    /// Playing stops once this is reached; `nil` plays on.
    package var stopPoint: PlayPoint?
    /// The sleep timer; `nil` if none is set.
    package var sleep: SleepReport?
    /// The gain applied to the current track, in dB; `nil` if none is.
    package var gainDecibels: Double?
    /// The cached part of each track; tracks that are not cached at all are missing.
    package var availability: [Track.ID: Availability] = [:]
    /// The downloads that are not finished, in their order.
    package var downloads: [DownloadReport] = []
    /// How much is downloaded ahead; `nil` for nothing.
    package var aheadGoal: AheadGoal?
    /// `nil` if nothing is downloaded ahead, or if the current track is not whole.
    package var offlineTime: OfflineTime?
    /// Changes whenever `availability` does.
    package var availabilityRevision = 0
    package var connectivity = ConnectivityReport()
    /// `true` if the audio server was lost and has not been reached again.
    package var isOutputLost = false
    /// Tags and durations of the tracks that were opened so far; a playlist often does not state them.
    package var learned = LearnedFacts()
    /// The tracks that failed, with their errors.
    package var failures: [Track.ID: MediaError] = [:]
    /// The newest messages, oldest first; at most 100.
    package var messages: [PlayerMessage] = []
    /// The bytes of all tracks since the player started: those read from the cache, and those fetched.
    package var totalCachedBytes: Int64 = 0
    package var totalFetchedBytes: Int64 = 0
    /// `true` if the player has ended and takes no more commands.
    package var isOver = false

    package init() {}

    package var modes: PlayModes {
        PlayModes(isShuffled: isShuffled, repeatMode: repeatMode, gainMode: gainMode)
    }

    package var currentTrack: Track? {
        currentIndex.flatMap { tracks.indices.contains($0) ? tracks[$0] : nil }
    }
}

/// A message of the player to the user.
package struct PlayerMessage: Sendable, Equatable {
    /// Increases with each message, so that a view can distinguish new messages from those it has shown.
    package var number: Int
    /// The time of the message on the player's clock.
    package var time: Duration
    package var text: SafeText
    /// The `add` or `save` that the message says has failed; `nil` for any other message.
    package var failed: PlayerCommand?
    /// `true` if something failed.
    package var isError: Bool

    package init(
        number: Int,
        time: Duration,
        text: SafeText,
        failed: PlayerCommand? = nil,
        isError: Bool = false
    ) {
        self.number = number
        self.time = time
        self.text = text
        self.failed = failed
        self.isError = isError
    }
}

/// Receives the events that answer a command, which no observer gets: those of `status` and `list`, and the
/// refusal. The last one is `.answered`, as soon as the command was carried out or waits for tracks that are
/// being read; for `save` and the pins, once that is done. Called from the player's task, in order with its
/// events; it must not block.
package typealias CommandAnswer = @Sendable (PlayerEvent) -> Void

/// The player, as user interfaces see it.
package protocol PlayerControl: Sendable {
    /// Sends a command; never waits. `quit` overtakes the commands that were not carried out yet.
    func send(_ command: PlayerCommand)

    /// Sends a command of a script, whose `quit` takes its turn. Blocks the calling thread, a named one,
    /// while too many commands wait.
    func sendInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer)

    /// Does the same as `sendInTurn`, but never waits: while too many commands wait, it sends nothing and
    /// returns `false`.
    func offerInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) -> Bool

    /// The newest snapshot; never waits.
    var snapshot: PlayerSnapshot { get }

    /// Calls `observer` after each new snapshot, from any thread. It must only wake its user interface.
    @discardableResult
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation

    /// Calls `observer` with each event from now on, in order, from the player's task; it must not block.
    @discardableResult
    func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) -> Observation

    /// The screen shows `tracks`, whose tags it does not know: the player may look them up. Never waits.
    func showTracks(_ tracks: [Track])

    /// Starts or stops computing `soundPicture`, which takes processor time only while it is watched. Never
    /// waits.
    func watchSound(_ isWatched: Bool)

    /// Spectrum and levels of the sound heard at this moment; `nil` if it is not watched or not known. Never
    /// waits.
    var soundPicture: SoundPicture? { get }
}

extension PlayerControl {
    /// By default, no tags are looked up.
    package func showTracks(_ tracks: [Track]) {}
}
