import Media
import System

/// Finds the tags and lengths of tracks before they are played, so that the queue can show, search and sort
/// them: those of local tracks in their files, those of cached tracks in the cache.
///
/// It reads one file at a time, and of each only the bytes that opening the track reads. Everything is done
/// on a thread of its own with low priority, so a slow disk delays neither the music nor the end of the
/// player. Each track is looked up once; when it is played, its decoder reports better tags.
final class TagWatch: Sendable {
    /// Receives what was found, and `true` with the last part of the tracks that were added.
    typealias Found = @Sendable ([Track.ID: TrackFacts], _ isLast: Bool) -> Void

    /// The most files read in a session: 1.3 s of one processor, and 16 MB of memory.
    static let mostFiles = 20_000

    private let openFile: PlaybackParts.OpenFile
    private let makeDecoder: TrackDownload.MakeDecoder
    private let cache: (any CacheStatus)?
    private let found: Found
    private let thread = WorkThread(name: "tags", isLowPriority: true)
    private let lookups = JobLine(priority: .utility)

    private struct Seen {
        var tracks: Set<Track.ID> = []
        var fileCount = 0
    }

    private let seen = Locked(Seen())

    /// `found` is called from any task. Returns `nil` if `parts` has no `openFile`: then the tags are not
    /// shown.
    init?(parts: PlaybackParts, found: @escaping Found) {
        guard let openFile = parts.openFile else { return nil }
        self.openFile = openFile
        makeDecoder = parts.makeDecoder
        cache = parts.cache
        self.found = found
    }

    deinit { thread.stop() }

    /// Looks up those of `tracks` that were not looked up yet, from the one at `place` on. Never waits.
    func lookUp(newOf tracks: [Track], from place: Int) {
        lookups.add { [self] in
            await withTaskExecutorPreference(thread) {
                var report = TagReport(found: found)
                await askCache(about: tracks, &report)
                await readFiles(of: tracks, from: place, &report)
                report.finish()
            }
        }
    }

    /// Cancels the lookups; does not wait for a file that is being read.
    func stop() { lookups.cancel() }

    private func askCache(about tracks: [Track], _ report: inout TagReport) async {
        guard let cache else { return }
        for start in stride(from: 0, to: tracks.count, by: CachedWatch.batch) {
            let page = tracks[start...].prefix(CachedWatch.batch)
                .filter { track in
                    track.location.url != nil && seen.withLock { $0.tracks.insert(track.id).inserted }
                }
            guard !page.isEmpty else { continue }
            let answers = await cache.facts(of: page.compactMap(\.location.url))
            guard !Task.isCancelled else { return }
            for case (let track, let facts?) in zip(page, answers) {
                // The playlist's duration is better than the cache's, which may be an estimate.
                let duration = track.duration ?? facts.duration
                report.add(TrackFacts(tags: track.tags(with: facts.tags), duration: duration), of: track)
            }
        }
    }

    private func readFiles(of tracks: [Track], from place: Int, _ report: inout TagReport) async {
        for offset in tracks.indices {
            let track = tracks[(place + offset) % tracks.count]
            guard case .file(let path) = track.location, claimFile(of: track) else { continue }
            if let facts = await facts(of: track, at: path) { report.add(facts, of: track) }
            guard !Task.isCancelled else { return }
        }
    }

    private func claimFile(of track: Track) -> Bool {
        seen.withLock { seen in
            guard seen.fileCount < Self.mostFiles, seen.tracks.insert(track.id).inserted else { return false }
            seen.fileCount += 1
            return true
        }
    }

    /// `nil` if the file can't be read or is not music, which is reported only when it is played.
    private func facts(of track: Track, at path: String) async -> TrackFacts? {
        guard let reader = try? await openFile(path, thread) else { return nil }
        var facts: TrackFacts?
        if let decoder = try? await makeDecoder(reader, track), (try? await decoder.open()) != nil {
            facts = TrackFacts(of: decoder.info, for: track)
        }
        await reader.close()
        return facts
    }
}

/// Passes on the facts in growing parts, because the receiver copies all known facts for each part.
private struct TagReport {
    /// The size of the first part: about as many tracks as a screen shows.
    private static let first = 32
    private static let largest = 2_048

    let found: TagWatch.Found
    private var part: [Track.ID: TrackFacts] = [:]
    private var size = first
    private var isEmpty = true

    init(found: @escaping TagWatch.Found) { self.found = found }

    mutating func add(_ facts: TrackFacts, of track: Track) {
        part[track.id] = facts
        isEmpty = false
        guard part.count >= size else { return }
        found(part, false)
        part = [:]
        size = min(size * 2, Self.largest)
    }

    func finish() { if !isEmpty { found(part, true) } }
}

extension TrackFacts {
    /// The tags of `track`, completed by those in its stream. The playlist's duration is taken before an
    /// estimated one.
    init(of info: StreamInfo, for track: Track) {
        let isBetter = info.isDurationExact || track.duration == nil
        self.init(
            tags: track.tags(with: info.tags),
            duration: isBetter ? info.duration : track.duration,
            isExact: info.isDurationExact
        )
    }
}
