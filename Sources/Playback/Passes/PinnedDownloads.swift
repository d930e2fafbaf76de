import Media
import System

/// Downloads tracks that the user has pinned, in the background, one after another.
///
/// The loader gives these fetches the lowest priority, so the music never waits for their bytes.
final class PinnedDownloads: Sendable {
    private struct State {
        /// The tracks to download, in order; the first one is being downloaded.
        var tracks: [Track] = []
        /// The download of the first track.
        var task: Task<Void, Never>?
        var isOver = false
    }

    private let parts: PlaybackParts
    private let send: @Sendable (PlayerInput) -> Void
    private let progressed: @Sendable (Track) -> Void
    private let state = Locked(State())

    /// `progressed` is called about once a second while a track is being downloaded, and at its end.
    init(
        parts: PlaybackParts,
        send: @escaping @Sendable (PlayerInput) -> Void,
        progressed: @escaping @Sendable (Track) -> Void
    ) {
        self.parts = parts
        self.send = send
        self.progressed = progressed
    }

    /// Downloads `tracks` after those that are waiting. Never waits.
    func add(_ tracks: [Track]) {
        state.withLock { state in
            state.tracks += tracks.filter { track in !state.tracks.contains { $0.id == track.id } }
        }
        startNext()
    }

    /// Gives up the downloads of `tracks`, which were unpinned.
    func remove(_ tracks: [Track]) {
        let ids = Set(tracks.map(\.id))
        state.withLock { state in
            if let first = state.tracks.first, ids.contains(first.id) { state.task?.cancel() }
            state.tracks.removeAll { ids.contains($0.id) }
        }
    }

    /// Interrupts a download at `location`, which is about to be opened; it begins again at the end of the
    /// line. Returns the task to await before that.
    func yield(at location: ResourceLocation) -> [Task<Void, Never>] {
        state.withLock { state in
            guard let task = state.task, let first = state.tracks.first, first.location == location else {
                return []
            }
            state.tracks.append(state.tracks.removeFirst())
            task.cancel()
            return [task]
        }
    }

    /// Cancels all downloads; returns when the bytes received until then are committed.
    func finish() async {
        let task = state.withLock { state in
            state.isOver = true
            state.tracks = []
            state.task?.cancel()
            return state.task
        }
        await task?.value
    }

    private func startNext() {
        state.withLock { state in
            guard state.task == nil, !state.isOver, let track = state.tracks.first else { return }
            state.task = Task(priority: .utility) {
                await download(track)
                let isCancelled = Task.isCancelled
                self.state.withLock { state in
                    state.task = nil
                    if !isCancelled { state.tracks.removeAll { $0.id == track.id } }
                }
                startNext()
            }
        }
    }

    private func download(_ track: Track) async {
        do {
            let reader = try await parts.open(track.location, false)
            do {
                reader.setPriority(isLow: true)
                try await prepare(reader, of: track)
                await ClosingResources.fillGaps(through: reader, parts.clock) { progressed(track) }
            } catch {
                await close(reader, of: track)
                throw error
            }
            await close(reader, of: track)
        } catch {
            // Unpinned, interrupted or over.
            guard !Task.isCancelled else { return }
            send(.notice(MediaError(describing: error, of: track.location.safeText)))
        }
    }

    /// Decodes the head, so that only music is cached, and the cache has its title.
    private func prepare(_ reader: any ResourceReader, of track: Track) async throws {
        let decoder = try await parts.makeDecoder(reader, track)
        do {
            try await decoder.open()
        } catch let error as MediaError where error.code == .notAudio || error.code == .emptyResource {
            await reader.reject()
            throw error
        }
        let tags = decoder.info.tags.filled(from: track.tags)
        let duration = decoder.info.duration ?? track.duration
        reader.storeTags(title: tags.title, artist: tags.artist, duration: duration)
    }

    private func close(_ reader: any ResourceReader, of track: Track) async {
        let report = reader.report
        await reader.close()
        progressed(track)
        send(.backgroundFetchEnded(report))
    }
}
