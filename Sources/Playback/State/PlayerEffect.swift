package import Media

/// What the player's shell does for its state, in the order given.
package enum PlayerEffect: Sendable, Equatable {
    /// Begins a pass over `track`. It takes over the open resource of `reusing` where that is given.
    case startPass(PassID, Track, at: Duration, reusing: PassID?, refresh: Bool)
    /// Ends a pass and waits until it writes nothing more. Its resource is closed unless it is kept for
    /// the pass that reuses it.
    case cancelPass(PassID, keepsResource: Bool)
    /// The pass may write PCM. With `holds` it stops once the sink has enough to start, until `release`.
    case grant(PassID, holds: Bool)
    case release(PassID)
    /// The pass tells when the ring holds enough to start again.
    case requestPrime(PassID)
    /// Opens the sink, which is reached anew first when it was lost.
    case openOutput(AudioFormat)
    case startOutput
    /// The sink is lost: it is connected to anew with the next opening.
    case forgetOutput
    /// Looks for the audio server after that time; in place of a search that is under way. The answer bears
    /// the number of the attempt.
    case reconnectOutput(after: Duration, attempt: Int)
    case pauseOutput
    /// Drops what is in the ring and the sink.
    case flushOutput
    /// Nothing more will be written.
    case finishRing
    case drain
    case allowReadAhead(PassID)
    /// Fetches the first seconds of a track whose turn will come.
    case prefetchHead(PassID)
    /// The bytes are no music: nothing of them is kept.
    case reject(PassID)
    case emit(PlayerEvent)
    /// Reports the end of a track, with what its resource counted.
    case endTrack(
        PassID,
        index: Int,
        PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        stalls: Int,
        MediaError?
    )
    /// Pins the track, or lets go of it.
    case togglePin(Track)
    /// The listener asked for something: the network is tried again when it is away.
    case retryNetwork
    case setVolume(Int, isMuted: Bool)
    /// The pass makes louder or softer what it writes from now on.
    case setGain(PassID, GainStage)
    case setTitle(SafeText)
    case resolve(String)
    /// Something that was to be played is not among the tracks.
    case countLostSource
    case save(String)
    /// The player is over; `fatal` says why it could not go on.
    case finish(fatal: MediaError?)
}

/// What the player's state hears.
package enum PlayerInput: Sendable {
    case command(PlayerCommand)
    /// The first tracks are known, and others are still being read. `launched` follows, with these before the others.
    case begun(tracks: [Track], start: Int?, position: Duration)
    /// The sources of the command line are known. `start` counts from 1; nil is the first in playing order.
    case launched(tracks: [Track], problems: [MediaError], start: Int?, position: Duration)
    case added([Track], problems: [MediaError])
    case notice(MediaError)
    case passReady(PassID, StreamInfo, SeekLanding, isSeekable: Bool)
    /// The pass was let write; its first frame will be the sink's frame `start`.
    case passGranted(PassID, start: FrameCount)
    case infoChanged(PassID, StreamInfo)
    /// The place where the pass began was an estimate, and proved to lie so many frames on: what it wrote and
    /// writes is now known exactly.
    case landingCorrected(PassID, by: FrameCount)
    /// The pass reads a live stream.
    case liveFound(PassID, Station)
    /// A live stream goes on under another title behind so many frames since the pass was let write.
    case titleReached(PassID, SafeText, frames: FrameCount)
    /// What the pass waits for; nil when its bytes come.
    case loadWaits(PassID, LoadWait?)
    case networkChanged(ConnectivityReport)
    /// A list of so many tracks was saved.
    case saved(count: Int, path: String)
    /// A track was pinned, or let go of.
    case pinned(Track, Bool)
    /// The rest of a heard track was fetched, as far as it could be; only the ledger counts it.
    case filled(LoadReport)
    /// More is known of what is kept; only the snapshot shows it.
    case keptChanged
    /// The ring holds enough to start.
    case passPrimed(PassID)
    /// The music goes on in another format, after `frames` in the one before.
    case formatChanged(PassID, StreamInfo, frames: FrameCount)
    /// All is written; `frames` count since the pass was let write.
    case passWritten(PassID, frames: FrameCount)
    /// It stopped before its end, after writing `frames`.
    case passFailed(PassID, MediaError, frames: FrameCount)
    case outputStarted
    case outputFailed(MediaError)
    /// The audio server that was lost answers again.
    case outputReached(attempt: Int)
    case outputUnreachable(attempt: Int)
    case outputEvent(OutputEvent)
    case drained
    case tick
}
