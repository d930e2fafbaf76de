import Media

/// What takes its time beside the music: sources to resolve, lists to save and tracks to pin, each kind in the order
/// asked for.
final class Errands: Sendable {
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

    init(parts: PlaybackParts, tell: @escaping @Sendable (PlayerInput) -> Void) {
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
                    tell(.added(resolved.tracks, problems: resolved.problems))
                } catch {
                    tell(.added([], problems: [MediaError(describing: error)]))
                }
            }
        }
        saving = Task { [save = parts.save] in
            for await list in waitingLists {
                do {
                    try await save(list.tracks, list.path)
                    tell(.saved(count: list.tracks.count, path: list.path))
                } catch {
                    tell(.notice(MediaError(describing: error)))
                }
            }
        }
        pinning = Task { [kept = parts.kept] in
            for await track in waitingPins {
                do {
                    tell(.pinned(track, try await Self.togglePin(track, in: kept)))
                } catch {
                    tell(.notice(MediaError(describing: error)))
                }
            }
        }
    }

    /// Returns whether `track` is pinned now.
    private static func togglePin(_ track: Track, in kept: (any KeptMusic)?) async throws -> Bool {
        guard let url = track.location.url else {
            throw MediaError(
                .notKept,
                track.location.safeText,
                "is a file of this machine and needs no place in the cache"
            )
        }
        guard let kept else {
            throw MediaError(
                .notKept,
                url.safeText,
                "cannot be pinned, for nothing is kept; leave out --no-cache"
            )
        }
        let isPinned = await kept.availability(of: [url]).first??.isPinned ?? false
        try await kept.setPinned(url, !isPinned)
        return !isPinned
    }

    func resolve(_ source: String) { sources.yield(source) }

    func save(_ tracks: [Track], to path: String) { lists.yield(List(tracks: tracks, path: path)) }

    func togglePin(_ track: Track) { pins.yield(track) }

    /// Nobody waits for tracks any more.
    func stopResolving() {
        sources.finish()
        resolving.cancel()
    }

    /// Returns when every list is saved and every pin set, or its failure told.
    func finishSaving() async {
        lists.finish()
        pins.finish()
        await saving.value
        await pinning.value
    }
}
