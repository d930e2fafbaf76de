import Media
import System

/// Reads the tags of tracks that the screen shows, from the first bytes of their files on web servers.
///
/// Each file costs one request, at most two at a time go to one server, and none is sent while the music
/// waits for the connection. What the first bytes do not show stays unknown until the track is played. The
/// bytes stay cached, so a later session requests none of them.
final class HeadWatch: Sendable {
    typealias Open = PlaybackParts.OpenHead

    /// The bytes that are read of each file: enough for the tags of most files with a small picture.
    static let headLength: Int64 = 64 << 10
    static let mostPerHost = 2

    private struct State {
        /// The tracks that are shown and were not looked up yet, in order.
        var waiting: [Track] = []
        /// The tracks that are or were looked up.
        var seen: Set<Track.ID> = []
        /// The lookups in progress, by origin.
        var running: [String: Int] = [:]
        /// The origins that refused a track, which want a log-in, or do not want to be read.
        var refusing: Set<String> = []
        var tasks: [Track.ID: Task<Void, Never>] = [:]
        var isOver = false
    }

    private let open: Open
    private let makeDecoder: TrackDownload.MakeDecoder
    private let ended: @Sendable (Track, TrackFacts?) -> Void
    private let state = Locked(State())

    /// `ended` is called from any task after each lookup, when the bytes are cached; without facts if the
    /// first bytes do not show any.
    init(
        open: @escaping Open,
        makeDecoder: @escaping TrackDownload.MakeDecoder,
        ended: @escaping @Sendable (Track, TrackFacts?) -> Void
    ) {
        self.open = open
        self.makeDecoder = makeDecoder
        self.ended = ended
    }

    /// Looks up those of `tracks` that were not looked up yet and whose tags may be read, instead of the
    /// tracks that are still waiting. The servers of `failures` that refused a track are not asked. Never
    /// waits.
    func lookUp(_ tracks: [Track], after failures: some Sequence<MediaError>) {
        let refusing = failures.filter(\.isRefusal).compactMap { WebURL($0.subject.string)?.origin }
        state.withLock { state in
            state.refusing.formUnion(refusing)
            state.waiting = tracks.filter { track in
                track.isListed && track.episode == nil && track.tags.title == nil
                    && !state.seen.contains(track.id)
            }
            startNext(&state)
        }
    }

    /// Cancels the lookups; returns when all files are closed.
    func finish() async {
        let tasks = state.withLock { state in
            state.isOver = true
            for task in state.tasks.values { task.cancel() }
            return Array(state.tasks.values)
        }
        for task in tasks { await task.value }
    }

    private func startNext(_ state: inout State) {
        guard !state.isOver else { return }
        var rest: [Track] = []
        for track in state.waiting {
            guard let url = track.location.url, !state.refusing.contains(url.origin) else { continue }
            guard state.running[url.origin, default: 0] < Self.mostPerHost else {
                rest.append(track)
                continue
            }
            state.seen.insert(track.id)
            state.running[url.origin, default: 0] += 1
            state.tasks[track.id] = Task(priority: .utility) { await self.lookUp(track, at: url) }
        }
        state.waiting = rest
    }

    private func lookUp(_ track: Track, at url: WebURL) async {
        var isRefused = false
        do {
            ended(track, try await facts(of: track, at: url))
        } catch let error as MediaError {
            isRefused = error.isRefusal
        } catch {}
        state.withLock { state in
            state.running[url.origin, default: 1] -= 1
            state.tasks[track.id] = nil
            if isRefused { state.refusing.insert(url.origin) }
            startNext(&state)
        }
    }

    /// `nil` if the first bytes do not show the tags.
    private func facts(of track: Track, at url: WebURL) async throws -> TrackFacts? {
        guard let reader = try await open(url) else { return nil }
        do {
            let facts = try await facts(of: track, through: PartialReader(reader, .first(Self.headLength)))
            await reader.close()
            return facts
        } catch {
            await reader.close()
            throw error
        }
    }

    private func facts(of track: Track, through head: PartialReader) async throws -> TrackFacts? {
        // One request brings all that is read.
        head.whole.willRead(0..<Self.headLength)
        var end: Int64 = 0
        while end < Self.headLength {
            let bytes = try await head.whole.read(at: end, count: Int(Self.headLength - end))
            guard !bytes.isEmpty, head.whole.report.live == nil else { break }
            end += Int64(bytes.count)
        }
        guard head.whole.report.live == nil else { return nil }
        do {
            let decoder = try await makeDecoder(head, track)
            try await decoder.open()
            let facts = TrackFacts(of: decoder.info, for: track)
            if facts.tags != TrackTags() { head.whole.store(facts) }
            return facts
        } catch let error as MediaError where error.code == .notAudio || error.code == .emptyResource {
            await head.whole.reject()
            return nil
        } catch is PartialReader.Missing {
            return nil
        }
    }
}

extension MediaError {
    /// `true` if a server wants a log-in, or forbids the request.
    fileprivate var isRefusal: Bool {
        code == .httpStatus && ["(401)", "(403)"].contains { cause.string.contains($0) }
    }
}
