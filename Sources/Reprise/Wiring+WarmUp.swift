import Cache
import HTTP
import Media
import Playlists

/// What is got ready before it is asked for.
extension Wiring {
    /// Loads libcurl ahead of the first request, where one is foreseen, and begins the connection for it meanwhile,
    /// where one is certain; nil where none is.
    ///
    /// Loading takes longer than all else that stands between the start and the first request, and while it lasts
    /// no thread can start. What is kept plays without it, so a replay must not pay for it.
    static func warmUp(
        _ curl: CurlTransport,
        for beginning: Beginning,
        _ options: Options,
        isShuffled: Bool,
        kept: CacheFolder?
    ) -> Task<Void, Never>? {
        guard !options.offline, let url = beginning.firstURL(of: options.sources) else { return nil }
        let isFirst = beginning.beginsWithFirstURL(of: options.sources, isShuffled: isShuffled)
        return Task {
            // The server is asked about a list whether it is kept or not.
            let isAsked = options.refresh || SourceResolver.isList(url)
            if !isAsked, let kept, await kept.keepsSome(of: url) { return }
            guard !Task.isCancelled else { return }
            curl.warmUp(toward: isFirst ? url : nil)
        }
    }
}
