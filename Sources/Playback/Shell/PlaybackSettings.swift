package import Media
package import System

/// The player's own numbers, each with its reason.
package struct PlaybackSettings: Sendable {
    /// PCM held between decoder and sink. Two seconds ride out a busy machine, and wake it once a second.
    package var ringTime = Duration.seconds(2)
    /// PCM to have before the first sound: the sink's own buffer, so that it starts full.
    package var startTime = Duration.milliseconds(250)
    /// PCM to have before going on after running dry, so that a slow line does not stutter.
    package var restartTime = Duration.seconds(1)
    /// How often the position is looked at while music plays, besides when something is due.
    package var tick = Duration.milliseconds(250)
    /// How long a seek that follows right behind another waits for a third before it costs a request: longer than a
    /// held key needs to repeat itself.
    package var seekSettling = Duration.milliseconds(200)
    /// How long a relative seek waits for the next one before it costs a request: as long as twenty presses a
    /// second are apart, and a little more.
    package var stepSettling = Duration.milliseconds(60)
    /// The same for a seek to a named place: nothing where a hand names it, which cannot name twenty in a second.
    package var placeSettling = Duration.zero
    /// Bytes around a place that must be stored for a seek to go there without a request.
    package var seekReach: Int64 = 65_536
    package var gainMode = GainMode.off
    /// What is fetched of the next track before its turn.
    package var headTime = Duration.seconds(10)
    /// Whether tracks that were heard in part are fetched whole in the background.
    package var fillsHeardTracks = false
    /// How many are at a time. More would only keep more connections open, for one line.
    package var mostFillings = 4

    package var exitsAtEnd: Bool
    /// In percent; nil leaves the one that the sink remembers.
    package var volume: Int?
    package var repeatMode: RepeatMode
    package var shuffle: Bool
    package var seed: UInt64

    package init(
        exitsAtEnd: Bool,
        volume: Int? = nil,
        repeatMode: RepeatMode = .off,
        shuffle: Bool = false,
        seed: UInt64 = .random(in: 0 ... .max)
    ) {
        self.exitsAtEnd = exitsAtEnd
        self.volume = volume
        self.repeatMode = repeatMode
        self.shuffle = shuffle
        self.seed = seed
    }
}

/// What the player is given to play with.
package struct PlaybackParts: Sendable {
    /// Opens a resource; with `true` the server is asked first whether what is stored is current.
    package var open: @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader
    /// Makes a decoder over a source, with the resource's name for errors and its stored seek table.
    package var makeDecoder: @Sendable (any ByteSource, SafeText, [UInt8]) -> any AudioDecoder
    package var output: any AudioOutput
    /// The connecting of `output` when that has begun already; nil leaves it to the player.
    package var reaching: Task<Void, any Error>?
    package var resolver: any TrackResolver
    package var save: @Sendable ([Track], String) async throws -> Void
    package var clock: any MonotonicClock
    /// What is kept of the web; nil where nothing is.
    package var kept: (any KeptMusic)?
    /// Whether the network is there; nil where nobody judges that.
    package var connectivity: (any Connectivity)?
    /// Where a track goes on that was left in its middle; nil where it begins at its start. Asked by the
    /// player's task, so it must not wait.
    package var resumePoint: @Sendable (Track) -> Duration? = { _ in nil }
    /// Hears every event, in order, from the player's task.
    package var report: @Sendable (PlayerEvent) -> Void

    package init(
        open: @escaping @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader,
        makeDecoder: @escaping @Sendable (any ByteSource, SafeText, [UInt8]) -> any AudioDecoder,
        output: any AudioOutput,
        resolver: any TrackResolver,
        save: @escaping @Sendable ([Track], String) async throws -> Void,
        clock: any MonotonicClock,
        kept: (any KeptMusic)? = nil,
        connectivity: (any Connectivity)? = nil,
        report: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        self.open = open
        self.makeDecoder = makeDecoder
        self.output = output
        self.resolver = resolver
        self.save = save
        self.clock = clock
        self.kept = kept
        self.connectivity = connectivity
        self.report = report
    }
}

/// How a session ended.
package struct PlayerOutcome: Sendable, Equatable {
    package var summary: PlayerEvent.SummaryReport
    /// Why the player could not go on; nil when it ended as asked.
    package var fatal: MediaError?
    /// Whether the listener asked for the end.
    package var isQuit: Bool
}
