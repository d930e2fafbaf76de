import Media

/// An effect that the shell carries out for `PlayerState`, in the order given.
enum PlayerEffect: Sendable, Equatable {
    case startPass(PassStart)
    /// Ends a pass and waits until it has stopped writing. Its resource is closed, unless it is kept for the
    /// pass that reuses it.
    case cancelPass(PassID, keepsResource: Bool)
    /// Allows the pass to write PCM. With `holds` it stops once the sink has enough to start, until
    /// `release`.
    case grant(PassID, holds: Bool)
    case release(PassID)
    /// Asks the pass to report when the ring holds this much, or is full.
    case requestPrime(PassID, Duration)
    /// Opens the sink; connects to it again first if it was lost.
    case openOutput(AudioFormat)
    case startOutput
    /// The sink is lost: the next opening connects again.
    case forgetOutput
    /// Searches for the audio server after a delay, replacing an attempt in progress. The result has the
    /// attempt's number.
    case reconnectOutput(after: Duration, attempt: Int)
    /// Pauses the sink, or nothing if it does not run; `outputPaused` follows at once.
    case pauseOutput
    /// Drops the PCM in the ring and the sink.
    case flushOutput
    /// Marks the end of the PCM in the ring: nothing more will be written.
    case finishRing
    case drain
    /// Lets what the sink reads from now on become silent within `left`, as the end of a fade of `length`.
    case fade(left: Duration, length: Duration)
    case endFade
    /// Asks how much of the current track is loaded; `loaded` reports it.
    case measureLoaded
    case allowReadAhead(PassID)
    /// Fetches the first seconds of the next track.
    case prefetchHead(PassID)
    /// The bytes are not music: removes them from the cache.
    case reject(PassID)
    case emit(PlayerEvent)
    /// Emits the event `position`, `status` or `list`, with what the shell knows too.
    case emitPosition(index: Int)
    case emitStatus
    case emitList
    /// Emits these for the program alone that asked, if it is known.
    case answer([PlayerEffect])
    /// Reports the end of a track; the report lacks the counts of its resource.
    case endTrack(PassID, PlayerEvent.EndReport)
    /// Pins the tracks in the cache, or unpins them; `nil` pins them if the first one is not pinned, and
    /// otherwise unpins them.
    case togglePin([Track], Bool?)
    /// Downloads what is missing of the tracks; if it `answers`, the answer follows as an input.
    case download([Track], answers: Bool)
    /// Changes the downloads at the locations; `nil` stands for all.
    case changeDownloads(DownloadChange, Set<ResourceLocation>?)
    case stopDownload([Track])
    /// The goal of downloading ahead was set: also what failed before is tried. `aheadRestarted` follows.
    case restartAhead
    /// Remembers that these episodes were played, or that they were not.
    case rememberPlayed(Bool, [Episode])
    /// Tries the network and dead hosts again, because the user requested something.
    case retryNetwork
    case setVolume(Int, isMuted: Bool)
    /// Looks up the sound devices for a command; `devicesFound` follows at once.
    case findDevices(for: PlayerCommand)
    case setDevice(String?)
    /// Sets the gain of the PCM that the pass writes from now on.
    case setGain(PassID, GainStage)
    case setTitle(SoundTitle)
    /// `isForeign` is `true` if another program named the source.
    case resolve(String, isForeign: Bool = false)
    /// Stops reading all sources; the tracks that were read so far follow as inputs.
    case stopReading
    /// Stops waiting for the first source that is not read yet; the tracks read behind it follow as inputs.
    case passOverSource
    /// Counts a part of the sources that is not played.
    case countLostSource
    /// Saves the tracks with the facts that are known of them.
    case save(String, [Track], LearnedFacts)
    /// Ends the player; `fatal` is the reason if it could not go on.
    case finish(fatal: MediaError?)
}

/// Everything that a new pass needs to know.
struct PassStart: Sendable, Equatable {
    let id: PassID
    let track: Track
    let position: Duration
    /// The pass whose open resource is used; `nil` to open the track.
    var reusing: PassID?
    /// `true` if cached bytes are revalidated with the server first.
    var refresh = false
    /// `true` if the reads have low priority until a pass of this resource is needed for the sound.
    var isLowPriority = false
    /// The delay before the first request, since a further seek may replace the pass; none if the bytes are
    /// cached.
    var requestDelay = Duration.zero
}

/// A program that sent a command and waits for its answer.
struct Asker: Sendable {
    let answer: CommandAnswer
    /// `true` if the command is not refused so far.
    var isAccepted = true
}

enum PlayerInput: Sendable {
    case command(PlayerCommand)
    /// A command of a script, which takes its turn behind those before it.
    case scripted(PlayerCommand, answer: CommandAnswer? = nil)
    /// The result of a job, for which the program waits that sent its command.
    indirect case done(PlayerInput, for: Asker)
    /// The sources of the command line are read, or, if not `isComplete`, the next part of them. The first
    /// part begins with the track `start`, which counts from 1; `nil` is the first track in playing order.
    case launched(ResolvedTracks, start: Int?, position: Duration, isComplete: Bool = true)
    /// This source of the command line, or of an `add`, has been awaited for two seconds; `nil` once no
    /// source is. `tracks` is the number of tracks read so far.
    case reading(tracks: Int, of: SafeText?, isAddition: Bool = false)
    /// Tracks of the `add` of `source`. More of them follow unless `isLast`.
    case added([Track], problems: [MediaError], isLast: Bool = true, source: String? = nil)
    case notice(MediaError, failed: PlayerCommand? = nil)
    case passReady(PassID, StreamInfo, SeekLanding)
    /// The start of the pass is not stored yet, and the server sends the file only as a whole.
    case passAwaitsDownload(PassID)
    /// The pass was allowed to write; its first frame will be the sink's frame `start`.
    case passGranted(PassID, start: FrameCount)
    case infoChanged(PassID, StreamInfo)
    /// The actual start of the pass is this many frames later than estimated. The positions of all its frames
    /// are now exact.
    case landingCorrected(PassID, by: FrameCount)
    case liveFound(PassID, Station)
    /// A live stream has a new title, `frames` after the pass was allowed to write.
    case titleReached(PassID, SafeText, frames: FrameCount)
    /// A live stream has a new connection, whose bytes arrive.
    case reconnected(PassID)
    /// The current pass waits for the next attempt to load; `nil` if it does not wait.
    case loadWaits(PassID, LoadWait?)
    case networkChanged(ConnectivityReport)
    /// Only downloads depend on it.
    case costChanged(NetworkCost)
    /// Downloads wait because the network is metered (`true`), or go on after that.
    case downloadsHeld(Bool)
    case saved(count: Int, path: String)
    /// Tracks, at least one, were pinned (`true`) or unpinned.
    case pinned([Track], Bool)
    /// The background fetch of a heard track has ended. Only the session's totals count it.
    case backgroundFetchEnded(LoadReport)
    /// The downloads of an earlier session. Only the shell needs them.
    case downloadsRestored([DownloadReport])
    /// The answer to `download`: the tracks that were not awaited before.
    case downloadsAdded([Track])
    /// The answer to `changeDownloads`: how many were changed.
    case downloadsChanged(DownloadChange, count: Int)
    /// A download has ended, neither paused nor cancelled, with this report.
    case downloadEnded(PlayerEvent.DownloadEnd)
    /// None waits or runs any more.
    case downloadsFinished(DownloadSum)
    /// More is known about cached tracks or downloads. Only the snapshot shows it.
    case cacheChanged
    /// Tags and lengths of tracks that were not opened yet; `isLast` with the last ones for now.
    case factsFound([Track.ID: TrackFacts], isLast: Bool)
    case aheadRestarted
    /// No more is downloaded ahead, although the goal is not reached.
    case aheadStopped(DownloadQueue.Ahead.Stop)
    /// The screen shows these tracks, without tags.
    case tracksShown([Track])
    /// The ring holds enough PCM to start.
    case passPrimed(PassID)
    /// The time for which the current track is loaded beyond its position; `nil` if no more is arriving.
    case loaded(Duration?)
    /// The track continues in another format, after `frames` in the old one.
    case formatChanged(PassID, StreamInfo, frames: FrameCount)
    /// The pass has written everything; `frames` count since it was allowed to write.
    case passWritten(PassID, frames: FrameCount)
    case listFound(PassID, ResolvedTracks)
    /// The pass stopped before its end, after writing `frames`.
    case passFailed(PassID, MediaError, frames: FrameCount)
    case outputStarted
    /// The sink has paused because of `pauseOutput`: its count of heard frames is final.
    case outputPaused
    case outputFailed(MediaError)
    /// An attempt to reach the lost audio server has ended.
    case searchEnded(attempt: Int, isReached: Bool)
    case outputEvent(OutputEvent)
    /// The sound devices, none without an audio server, for the command that needs them.
    case devicesFound([SoundDevice], for: PlayerCommand)
    case drained
    case tick

    /// The command of a `command` or `scripted` input; `nil` for other inputs.
    var command: PlayerCommand? {
        switch self {
        case .command(let command), .scripted(let command, _): command
        default: nil
        }
    }

    var asker: Asker? {
        switch self {
        case .scripted(_, let answer?): Asker(answer: answer)
        case .done(_, let asker): asker
        default: nil
        }
    }

    /// The result of a job, and any other input itself.
    var withoutAsker: PlayerInput { if case .done(let result, _) = self { result } else { self } }
}
