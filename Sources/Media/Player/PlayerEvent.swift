/// An event as printed in headless mode. Cases and fields are part of the events contract.
package enum PlayerEvent: Sendable, Equatable {
    case loaded(tracks: Int)
    case track(TrackReport)
    case playing(index: Int, position: Duration, isExact: Bool)
    case position(index: Int, position: Duration, duration: Duration?, isExact: Bool, buffered: Duration)
    case buffering(index: Int, position: Duration)
    case paused(index: Int, position: Duration, isExact: Bool)
    case seeked(index: Int, position: Duration, isExact: Bool)
    case notice(code: String, message: SafeText)
    /// A notice that is not a failure: a temporary problem, or a command that was carried out. Printed like
    /// any notice.
    case remark(code: String, message: SafeText)
    case ended(EndReport)
    /// A download has ended, neither paused nor cancelled.
    case download(DownloadEnd)
    case volume(percent: Int, isMuted: Bool)
    case mode(PlayModes)
    case queue(QueueReport)
    /// Prints what the snapshot says of the state, the volume and the modes.
    indirect case status(PlayerSnapshot)
    /// Prints the tracks of the snapshot. They are shared with the player, so that the event costs nothing
    /// until it is written.
    indirect case list(PlayerSnapshot)
    /// The devices to which the sound can go, and the name of the chosen one; `nil` follows the default.
    case devices([SoundDevice], chosen: String?)
    case summary(SummaryReport)
    /// Follows the events that answer a command, and goes only to the program that sent it. `isAccepted` is
    /// `false` if the command was refused.
    case answered(isAccepted: Bool)

    package struct TrackReport: Sendable, Equatable {
        /// From 1.
        package var index: Int
        package var source: SafeText
        package var tags = TrackTags()
        package var duration: Duration?
        package var isSeekable = true
        /// `true` for a live stream, whose titles change while it plays.
        package var isLive = false
        /// The name of a live stream.
        package var station: SafeText?
        /// The number of its chapters; 0 if it has none, or if they are not known yet.
        package var chapters = 0
        /// The cached part of its bytes, 0...1; `nil` if unknown.
        package var cached: Double?
        /// `nil` if the track is no episode of a podcast.
        package var episode: Episode?
        /// `true` if the episode was played.
        package var isPlayed = false

        package init(index: Int, source: SafeText) {
            self.index = index
            self.source = source
        }
    }

    /// A change of the queue.
    package struct QueueReport: Sendable, Equatable {
        package enum Change: String, Sendable {
            case added
            case removed
            case moved
            case sorted
            case shuffled
            case cleared
            /// An undo has put tracks back.
            case restored
            /// An undo has put the tracks into an earlier order.
            case reordered
        }

        package var change: Change
        /// The tracks concerned: before the change if they were removed or moved, after it if they were added
        /// or restored; `nil` for all.
        package var tracks: TrackNumbers?
        /// The new number of the first track that was moved.
        package var target: Int?
        /// The length of the queue after the change.
        package var count = 0
        /// The number of the current track after the change.
        package var index: Int?

        package init(_ change: Change, _ tracks: RangeSet<Int>? = nil, target: Int? = nil) {
            self.change = change
            self.target = target
            self.tracks = tracks.map { TrackNumbers(places: $0) }
        }
    }

    package struct EndReport: Sendable, Equatable {
        package enum Reason: String, Sendable {
            case finished
            case skipped
            case failed
        }

        /// From 1.
        package var index: Int
        package var reason: Reason
        /// PCM frames that reached the sink.
        package var frames: FrameCount = 0
        package var cachedBytes: Int64 = 0
        package var fetchedBytes: Int64 = 0
        package var requestCount = 0
        package var stalls = 0
        /// `true` if another track was wanted within five seconds of this one.
        package var isBrief = false
        package var error: MediaError?

        package init(index: Int, reason: Reason) {
            self.index = index
            self.reason = reason
        }
    }

    package struct DownloadEnd: Sendable, Equatable {
        package var source: SafeText
        package var cachedBytes: Int64 = 0
        package var fetchedBytes: Int64 = 0
        package var requestCount = 0
        /// `nil` if it is cached as far as the server lets it be.
        package var error: MediaError?

        package init(of source: SafeText, _ load: LoadReport, _ error: MediaError?) {
            self.source = source
            cachedBytes = load.cachedBytes
            fetchedBytes = load.fetchedBytes
            requestCount = load.requestCount
            self.error = error
        }
    }

    package struct SummaryReport: Sendable, Equatable {
        package var played = 0
        /// Those of `played` that were skipped within their first five seconds.
        package var skipped = 0
        package var failed = 0
        /// The failures in `failed` that are sources which could not be read, not tracks.
        package var lostSources = 0
        package var cachedBytes: Int64 = 0
        package var fetchedBytes: Int64 = 0
        package var requestCount = 0
        package var stalls = 0

        package init() {}
    }
}
