import Cache
import HTTP
import Media
import Playlists

/// What is got ready before it is asked for.
extension Wiring {
    /// Reaches the audio server while all else is set up; nil for a file, which is not made before all is well.
    ///
    /// Libraries are opened in the order in which they are asked for, and a first request needs libcurl before any sound
    /// needs libpulse: so this waits until libcurl has been asked for, or is known not to be needed.
    static func reach(_ output: any AudioOutput, after warming: Task<Void, Never>?) -> Task<Void, any Error>?
    {
        guard output.isRealTime else { return nil }
        return Task {
            await warming?.value
            try await output.connect()
        }
    }

    /// Loads libcurl ahead of the first request if one is foreseen; nil if none is. Does nothing if `checking` fails.
    ///
    /// Loading takes longer than all else between the start and the first request. Cached tracks play without libcurl, so
    /// a replay does not load it.
    static func warmUp(
        _ curl: CurlTransport,
        for beginning: Beginning,
        _ options: Options,
        kept: CacheFolder?,
        once checking: Task<Void, any Error>
    ) -> Task<Void, Never>? {
        guard !options.offline, let url = beginning.firstURL(of: options.sources) else { return nil }
        return Task {
            guard (try? await checking.value) != nil else { return }
            // The server is asked about a list whether it is kept or not.
            let isAsked = options.refresh || SourceResolver.isList(url)
            if !isAsked, let kept, await kept.keepsSome(of: url) { return }
            guard !Task.isCancelled else { return }
            curl.warmUp()
        }
    }
}
