import Media

/// What takes its time beside the music: sources to resolve and lists to save, each kind in the order asked for.
final class Errands: Sendable {
    private struct List: Sendable {
        var tracks: [Track]
        var path: String
    }

    private let sources: AsyncStream<String>.Continuation
    private let lists: AsyncStream<List>.Continuation
    private let resolving: Task<Void, Never>
    private let saving: Task<Void, Never>

    init(parts: PlaybackParts, tell: @escaping @Sendable (PlayerInput) -> Void) {
        let (waitingSources, sources) = AsyncStream.makeStream(of: String.self)
        let (waitingLists, lists) = AsyncStream.makeStream(of: List.self)
        self.sources = sources
        self.lists = lists
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
                } catch {
                    tell(.notice(MediaError(describing: error)))
                }
            }
        }
    }

    func resolve(_ source: String) { sources.yield(source) }

    func save(_ tracks: [Track], to path: String) { lists.yield(List(tracks: tracks, path: path)) }

    /// Nobody waits for tracks any more.
    func stopResolving() {
        sources.finish()
        resolving.cancel()
    }

    /// Returns when every list is saved, or its failure told.
    func finishSaving() async {
        lists.finish()
        await saving.value
    }
}
