import Media
import System

/// The state of the player at one moment as MPRIS names it, without the position.
struct MPRISFacts: Sendable, Equatable {
    enum Status: String, Sendable {
        case playing = "Playing"
        case paused = "Paused"
        case stopped = "Stopped"
    }

    private(set) var status = Status.stopped
    /// `nil` if no track is current.
    private(set) var track: Track.ID?
    private(set) var tags = TrackTags()
    /// The title, or else the name of the file.
    private(set) var title: SafeText?
    private(set) var location: ResourceLocation?
    /// `nil` if unknown, and for a live stream.
    private(set) var duration: Duration?
    private(set) var isSeekable = false
    private(set) var hasTracks = false
    private(set) var hasNext = false
    private(set) var repeatMode = RepeatMode.off
    private(set) var isShuffled = false
    /// 0...100.
    private(set) var volume = 0

    init(_ snapshot: PlayerSnapshot) {
        hasTracks = !snapshot.tracks.isEmpty
        repeatMode = snapshot.repeatMode
        isShuffled = snapshot.isShuffled
        volume = snapshot.isMuted ? 0 : snapshot.volume
        guard let current = snapshot.currentTrack else { return }
        switch snapshot.state {
        // A player that waits for bytes is not paused: its button must offer to pause it.
        case .playing, .opening, .buffering: status = .playing
        case .paused: status = .paused
        case .stopped, .ended: status = .stopped
        }
        let isLive = snapshot.load.live != nil
        track = current.id
        let learned = snapshot.learned[current.id]
        let found = snapshot.info?.tags ?? learned?.tags
        tags = found.map { current.tags(with: $0) } ?? current.tags
        title = tags.title ?? current.location.name
        location = current.location
        // Known also while it is opened again, or stopped.
        duration = isLive ? nil : snapshot.duration ?? learned?.duration ?? current.duration
        isSeekable = status != .stopped && (!isLive || snapshot.info?.isRewindable == true)
        hasNext = snapshot.hasNext
    }

    // MARK: Values for the bus

    /// The object path of the current track. It belongs to no interface, and says which track is meant.
    var trackPath: String {
        track.map { "/reprise/track/\($0.value)" } ?? "/org/mpris/MediaPlayer2/TrackList/NoTrack"
    }

    /// The metadata of MPRIS and xesam, without those that are unknown.
    var metadata: [String: BusValue] {
        var data: [String: BusValue] = ["mpris:trackid": .path(trackPath)]
        func note(_ name: String, _ text: SafeText?, as value: (String) -> BusValue?) {
            if let text, !text.isEmpty, let value = value(text.string) { data[name] = value }
        }
        data["mpris:length"] = duration.map { .int64($0.wholeMicroseconds) }
        note("xesam:title", title) { .string($0) }
        note("xesam:artist", tags.artist) { .strings([$0]) }
        note("xesam:album", tags.album) { .string($0) }
        note("xesam:albumArtist", tags.albumArtist) { .strings([$0]) }
        note("xesam:genre", tags.genre) { .strings([$0]) }
        note("xesam:trackNumber", tags.number) { Self.number($0) }
        note("xesam:discNumber", tags.disc) { Self.number($0) }
        switch location {
        case .file(let path): data["xesam:url"] = .string(FileName.url(of: path))
        // Not the query, which may be a secret: any program may listen.
        case .web(let url): data["xesam:url"] = .string(url.origin + url.path)
        case nil: break
        }
        return data
    }

    /// 3 for `3` and for `3/12`; `nil` for a text without a number.
    private static func number(_ text: String) -> BusValue? {
        text.split(separator: "/").first.flatMap { Int32($0) }.map { .int32($0) }
    }

    /// The properties of the player whose changes are signalled.
    var properties: [String: BusValue] {
        [
            "PlaybackStatus": .string(status.rawValue),
            "LoopStatus": .string(repeatMode.loopStatus),
            "Rate": .double(1),
            "MinimumRate": .double(1),
            "MaximumRate": .double(1),
            "Shuffle": .bool(isShuffled),
            "Metadata": .map(metadata),
            "Volume": .double(Double(volume) / 100),
            "CanGoNext": .bool(hasNext),
            "CanGoPrevious": .bool(track != nil),
            "CanPlay": .bool(hasTracks),
            "CanPause": .bool(hasTracks),
            "CanSeek": .bool(isSeekable),
        ]
    }

    /// The properties of the application, which never change.
    static let root: [String: BusValue] = [
        "CanQuit": .bool(true),
        "CanRaise": .bool(false),
        "HasTrackList": .bool(false),
        "Identity": .string("Reprise"),
        "DesktopEntry": .string("reprise"),
        "SupportedUriSchemes": .strings(["file", "http", "https"]),
        // Those of the desktop entry.
        "SupportedMimeTypes": .strings([
            "audio/mpeg", "audio/flac", "audio/ogg", "audio/x-flac+ogg", "audio/x-vorbis+ogg",
            "audio/x-opus+ogg", "audio/mp4", "audio/x-m4b", "audio/aac", "audio/x-wav", "audio/x-aiff",
            "audio/x-aifc", "audio/x-mpegurl", "application/vnd.apple.mpegurl", "audio/x-scpls",
            "application/xspf+xml", "audio/x-ms-asx", "application/vnd.ms-wpl",
        ]),
    ]
}

extension RepeatMode {
    /// The name in MPRIS.
    var loopStatus: String {
        switch self {
        case .off: "None"
        case .one: "Track"
        case .all: "Playlist"
        }
    }

    /// `nil` if MPRIS has no such status.
    init?(loopStatus: String) {
        guard let mode = Self.allCases.first(where: { $0.loopStatus == loopStatus }) else { return nil }
        self = mode
    }
}

extension Duration {
    /// Rounded down; of times that no file has and that a hostile one states, the largest number.
    var wholeMicroseconds: Int64 {
        let (whole, isTooLarge) = components.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(components.attoseconds / 1_000_000_000_000)
        return isTooLarge || isBeyond ? .max : sum
    }
}
