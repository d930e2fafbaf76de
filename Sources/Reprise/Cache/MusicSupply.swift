import Media
import Playback

/// The functions with which `reprise cache` resolves, downloads and decodes tracks.
struct MusicSupply: Sendable {
    /// Resolves sources into tracks.
    let resolver: any TrackResolver
    /// Opens a track; its bytes are cached.
    let opener: any ResourceOpener
    /// Chooses and creates the decoder of an open resource.
    let makeDecoder: TrackDownload.MakeDecoder
    /// Opens a stream of segments.
    let openStream: TrackDownload.OpenStream
    /// Passes the music of the cached segments of a stream, as one file, to a closure. Throws `MediaError`.
    let exportStream: @Sendable (CachedItem, ([UInt8]) throws -> Void) async throws -> Void
    /// Returns `true` if the content of a whole resource does not match a checksum that it contains.
    let isDamaged: @Sendable (any ByteSource) async throws -> Bool
    /// The last error that says why something could not be cached.
    let lastNotCached: @Sendable () -> MediaError?
    /// Closes the music that `resolver` opened to see what it is. Nothing may be resolved meanwhile.
    let closeOpened: @Sendable () async -> Void
    /// Closes connections and ends threads.
    let shutdown: @Sendable () async -> Void
}

extension MusicSupply {
    /// The tracks of all `sources`, each once, in order, with the problems of those that cannot be read. Ends
    /// early if the task is cancelled.
    func tracks(of sources: [String]) async -> ResolvedTracks {
        var found = ResolvedTracks(tracks: [])
        var seen = Set<ResourceLocation>()
        var lists = Set<WebURL>()
        for source in sources where !Task.isCancelled {
            do {
                var part = try await resolver.tracks(for: source)
                part.tracks.removeAll { !seen.insert($0.location).inserted }
                part.lists.removeAll { !lists.insert($0).inserted }
                found.add(part)
            } catch let error as MediaError {
                found.problems.append(error)
            } catch {
                // Cancelled: the caller checks for that.
            }
        }
        return found
    }
}

extension ResolvedTracks {
    /// The lists and tracks from the web.
    var urls: [WebURL] {
        lists + tracks.compactMap { if case .web(let url) = $0.location { url } else { nil } }
    }
}
