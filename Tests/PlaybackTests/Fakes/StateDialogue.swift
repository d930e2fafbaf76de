import Media

@testable import Playback

// A dialogue with `PlayerState`: inputs in, effects out.

extension PassID: ExpressibleByIntegerLiteral {
    /// The pass with this number.
    public init(integerLiteral value: Int) { self.init(value: value) }
}

/// Tracks with these numbers as IDs.
func numbered(_ numbers: some Sequence<Int>) -> [Track] {
    numbers.map { FakeMusic(number: $0, frames: 1).track }
}

extension StreamInfo {
    static func music(
        seconds: Int = 10,
        sampleRate: Int = 1_000,
        channels: Int = 2,
        title: SafeText? = nil
    ) -> StreamInfo {
        let format = AudioFormat(sampleRate: sampleRate, channelCount: channels)
        var info = StreamInfo(format: format, bytesPerSecond: 4_000)
        info.duration = .seconds(seconds)
        info.isDurationExact = true
        info.tags.title = title
        return info
    }
}

extension PlayerInput {
    static func launched(_ tracks: [Track], start: Int? = 1) -> PlayerInput {
        .launched(ResolvedTracks(tracks: tracks), start: start, position: .zero)
    }

    static func launchedMore(_ sources: ResolvedTracks, isComplete: Bool) -> PlayerInput {
        .launched(sources, start: nil, position: .zero, isComplete: isComplete)
    }

    /// The pass knows its format and begins exactly at frame 0.
    static func ready(_ id: PassID, _ info: StreamInfo = .music()) -> PlayerInput {
        .passReady(id, info, SeekLanding(frame: 0, isExact: true))
    }
}

extension PlayerState {
    init(
        exitsAtEnd: Bool,
        joining: TrackJoining = .exactly,
        repeatMode: RepeatMode = .off,
        isShuffled: Bool = false,
        startSources: [String] = [],
        seed: UInt64
    ) {
        var settings = PlaybackSettings()
        settings.exitsAtEnd = exitsAtEnd
        settings.repeatMode = repeatMode
        settings.shuffle = isShuffled
        settings.seed = seed
        self.init(settings, joining: joining, startSources: startSources)
    }

    /// The tracks as a list is saved: with all known tags and lengths.
    var described: [Track] { queue.tracks.map { $0.described(by: announcer.facts[$0.id]) } }

    /// A state with `count` tracks, the first of which sounds.
    static func sounding(
        _ count: Int,
        exitsAtEnd: Bool = true,
        _ info: StreamInfo = .music()
    ) -> PlayerState {
        var state = PlayerState(exitsAtEnd: exitsAtEnd, seed: 1)
        state.send(.launched(numbered(1...count)), .ready(1, info))
        state.sound(1)
        return state
    }

    /// The pass writes into an empty stream, and the sink starts.
    mutating func sound(_ id: PassID) { send(.passGranted(id, start: 0), .passPrimed(id), .outputStarted) }

    /// Handles the inputs in order; returns the effects of the last one.
    @discardableResult
    mutating func send(
        _ inputs: PlayerInput...,
        heard: FrameCount = 0,
        now: Duration = .zero
    ) -> [PlayerEffect] {
        inputs.map { effects(of: $0, heard: heard, now: now) }.last ?? []
    }

    @discardableResult
    mutating func send(
        _ command: PlayerCommand,
        heard: FrameCount = 0,
        now: Duration = .zero
    ) -> [PlayerEffect] {
        effects(of: .command(command), heard: heard, now: now)
    }

    /// A sink that is paused has heard as much as before.
    mutating func effects(of input: PlayerInput, heard: FrameCount, now: Duration) -> [PlayerEffect] {
        let effects = handle(input, heard: heard, now: now)
        guard effects == [.pauseOutput] else { return effects }
        return effects + handle(.outputPaused, heard: heard, now: now)
    }
}

/// A memory of earlier sessions that a test writes itself.
struct FakeMemory: ListeningMemory {
    var places: [Track.ID: Duration] = [:]
    /// The guids of episodes.
    var played: Set<String> = []
    var heard: [Track.ID: HeardSpans] = [:]

    func resumePoint(of track: Track) -> Duration? { places[track.id] }
    func heardParts(of track: Track) -> HeardSpans { heard[track.id] ?? HeardSpans() }
    func isPlayed(_ episode: Episode) -> Bool { played.contains(episode.guid) }
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode]) {}
}

extension [PlayerEffect] {
    /// The last pass that these effects start.
    var start: PassStart? {
        reversed().lazy.compactMap { if case .startPass(let start) = $0 { start } else { nil } }.first
    }

    /// Each list that is saved, with the number of its tracks.
    var saves: [String] {
        compactMap {
            if case .save(let path, let tracks, _) = $0 { "\(path) \(tracks.count)" } else { nil }
        }
    }

    /// `true` if these effects end a track.
    var endsTrack: Bool { contains { if case .endTrack = $0 { true } else { false } } }
}
