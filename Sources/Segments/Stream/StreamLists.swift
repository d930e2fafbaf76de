import Media
import System

/// The lists of a stream: reads them, chooses a rendition, and knows which segments there are.
struct StreamLists: Sendable {
    /// The most lists that lead to one another.
    private static let mostMasters = 3

    /// A stream with an end (EXT-X-ENDLIST) is a recording, whose segments have fixed numbers.
    enum Kind: Sendable {
        case recorded(MediaPlaylist)
        case live(LiveWindow)
    }

    var kind: Kind
    /// The location that the media playlist is requested from.
    let source: ResourceLocation
    /// The text of the media playlist, to which its table refers.
    private var text: [UInt8]

    /// Reads the lists from the open one on: `first` is at `location`. A master playlist leads to a media
    /// playlist, which is opened by `open`.
    ///
    /// Throws `MediaError` if a list is damaged, or has no stream that is played.
    static func read(
        _ first: any ResourceReader,
        at location: ResourceLocation,
        _ parts: SegmentParts,
        open: (ResourceLocation) async throws -> any ResourceReader
    ) async throws -> StreamLists {
        var reader = first
        var source = location
        var startOffset: Duration?
        for _ in 0..<Self.mostMasters {
            let requestedAt = parts.clock.now
            let text = try await reader.allBytes(atMost: MediaPlaylist.mostBytes, of: location.safeText)
            // Known only once the list was answered.
            let place = Self.answering(source, reader)
            guard text.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) == .master else {
                let playlist = try Self.playlist(text, at: place)
                if playlist.isEnded {
                    return StreamLists(kind: .recorded(playlist), source: source, text: text)
                }
                let window = LiveWindow(playlist, startOffset: startOffset, requestedAt: requestedAt)
                return StreamLists(kind: .live(window), source: source, text: text)
            }
            let master = try MasterPlaylist(text, location: place)
            startOffset = master.startOffset ?? startOffset
            let choice = try master.choice(quality: parts.quality, playing: parts.played)
            reader = try await open(choice.location)
            source = choice.location
        }
        throw MediaError(.badPlaylist, location.safeText, "HLS master playlists lead to one another")
    }

    private static func playlist(
        _ text: [UInt8],
        at location: ResourceLocation
    ) throws(MediaError) -> MediaPlaylist {
        var parser = MediaPlaylistParser(location: location)
        try parser.feed(text)
        return try parser.finish()
    }

    /// The location that answered: relative references start there (RFC 3986 §5.1.3), with the user's
    /// password for its server.
    private static func answering(
        _ location: ResourceLocation,
        _ reader: any ResourceReader
    ) -> ResourceLocation {
        guard let answering = reader.report.redirectedTo else { return location }
        return .web(location.url?.resolving(answering.requestString) ?? answering)
    }

    var isLive: Bool { if case .live = kind { true } else { false } }

    /// Segment `number` of the playlist of a recording; `nil` behind the last one.
    func recorded(_ number: Int, of playlist: MediaPlaylist) throws(MediaError) -> MediaSegment? {
        guard number < playlist.count else { return nil }
        return try playlist.segment(number) { Array(text[Int($0.lowerBound)..<Int($0.upperBound)]) }
    }

    /// Segment `number` of `window`.
    func live(_ number: Int64, of window: LiveWindow) throws(MediaError) -> MediaSegment {
        try window.segment(number) { Array(text[Int($0.lowerBound)..<Int($0.upperBound)]) }
    }

    /// Reads the list of a live stream again, by `reader`, which was opened at `requestedAt`.
    mutating func reload(_ window: inout LiveWindow, by reader: any ResourceReader, requestedAt: Duration)
        async throws
    {
        let text = try await reader.allBytes(atMost: MediaPlaylist.mostBytes, of: source.safeText)
        let playlist = try Self.playlist(text, at: Self.answering(source, reader))
        if window.receive(playlist, requestedAt: requestedAt) != .ignored { self.text = text }
        kind = .live(window)
    }
}
