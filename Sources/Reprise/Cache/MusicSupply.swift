import Media
import System

/// Where `reprise cache` gets music from that is not kept yet.
struct MusicSupply: Sendable {
    /// Turns what is named into tracks.
    let resolver: any TrackResolver
    /// The lists of the web that the resolver has read so far.
    let listsRead: @Sendable () -> [WebURL]
    /// Opens a piece of music; its bytes are kept.
    let opener: any ResourceOpener
    /// Chooses the decoder of an open resource and makes it.
    let makeDecoder: @Sendable (any ResourceReader, ResourceLocation) async throws -> any AudioDecoder
    /// The last word on why something could not be kept.
    let lastNotKept: @Sendable () -> MediaError?
    /// Lets go of connections and threads.
    let shutdown: @Sendable () async -> Void
}

/// Opens resources like another opener, and remembers which of the web were opened.
final class RecordingOpener: ResourceOpener {
    private let opener: any ResourceOpener
    private let opened = Locked<[WebURL]>([])

    init(_ opener: any ResourceOpener) { self.opener = opener }

    /// Those that were opened so far, in order.
    var urls: [WebURL] { opened.withLock { $0 } }

    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        if case .web(let url) = location { opened.withLock { $0.append(url) } }
        return try await opener.open(location)
    }
}
