import Media

/// Resolves sources, saves playlists and pins tracks in the background, each kind of job in the order of the commands.
final class BackgroundJobs: Sendable {
    private struct List: Sendable {
        var tracks: [Track]
        var path: String
    }

    private let sources: AsyncStream<String>.Continuation
    private let lists: AsyncStream<List>.Continuation
    private let pins: AsyncStream<Track>.Continuation
    private let resolving: Task<Void, Never>
    private let saving: Task<Void, Never>
    private let pinning: Task<Void, Never>

    init(parts: PlaybackParts, send: @escaping @Sendable (PlayerInput) -> Void) {
        let (waitingSources, sources) = AsyncStream.makeStream(of: String.self)
        let (waitingLists, lists) = AsyncStream.makeStream(of: List.self)
        let (waitingPins, pins) = AsyncStream.makeStream(of: Track.self)
        self.sources = sources
        self.lists = lists
        self.pins = pins
        resolving = Task { [resolver = parts.resolver] in
            for await source in waitingSources {
                do {
                    let resolved = try await resolver.tracks(for: source)
                    send(.added(resolved.tracks, problems: resolved.problems))
                } catch {
                    send(.added([], problems: [MediaError(describing: error)]))
                }
            }
        }
        saving = Task { [save = parts.save] in
            for await list in waitingLists {
                do {
                    try await save(list.tracks, list.path)
                    send(.saved(count: list.tracks.count, path: list.path))
                } catch {
                    send(.notice(MediaError(describing: error)))
                }
            }
        }
        pinning = Task { [cache = parts.cache] in
            for await track in waitingPins {
                do {
                    send(.pinned(track, try await Self.togglePin(track, in: cache)))
                } catch {
                    send(.notice(MediaError(describing: error)))
                }
            }
        }
    }

    /// Pins `track`, or unpins it. Returns `true` if it is pinned now.
    private static func togglePin(_ track: Track, in cache: (any CacheStatus)?) async throws -> Bool {
        guard let url = track.location.url else {
            throw MediaError(
                .notCached,
                track.location.safeText,
                "can't be pinned (a local file needs no cache)"
            )
        }
        guard let cache else {
            throw MediaError(
                .notCached,
                url.safeText,
                "can't be pinned without a cache (leave out --no-cache)"
            )
        }
        let isPinned = await cache.availability(of: [url]).first??.isPinned ?? false
        try await cache.setPinned(url, !isPinned)
        return !isPinned
    }

    func resolve(_ source: String) { sources.yield(source) }

    func save(_ tracks: [Track], to path: String) { lists.yield(List(tracks: tracks, path: path)) }

    func togglePin(_ track: Track) { pins.yield(track) }

    /// Cancels resolving: no more tracks are needed.
    func stopResolving() {
        sources.finish()
        resolving.cancel()
    }

    /// Returns when every playlist is saved and every pin is set, or its failure was reported.
    func finishSaving() async {
        lists.finish()
        pins.finish()
        await saving.value
        await pinning.value
    }
}
