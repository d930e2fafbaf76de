import Media
import System

/// The functions with which `reprise cache` resolves, downloads and decodes tracks.
struct MusicSupply: Sendable {
    /// Resolves sources into tracks.
    let resolver: any TrackResolver
    /// The lists from the web that the resolver has read so far.
    let listsRead: @Sendable () -> [WebURL]
    /// Opens a track; its bytes are cached.
    let opener: any ResourceOpener
    /// Chooses and creates the decoder of an open resource.
    let makeDecoder: @Sendable (any ResourceReader, ResourceLocation) async throws -> any AudioDecoder
    /// The last error that says why something could not be cached.
    let lastNotCached: @Sendable () -> MediaError?
    /// Closes connections and ends threads.
    let shutdown: @Sendable () async -> Void
}

/// Opens resources through another opener, and remembers those from the web.
final class RecordingOpener: ResourceOpener {
    private let opener: any ResourceOpener
    private let opened = Locked<[WebURL]>([])

    init(_ opener: any ResourceOpener) { self.opener = opener }

    /// The URLs opened so far, in order.
    var urls: [WebURL] { opened.withLock { $0 } }

    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        if case .web(let url) = location { opened.withLock { $0.append(url) } }
        return try await opener.open(location)
    }
}
