import Cache
import Media

/// `reprise cache fetch`, `pin` and `unpin`.
struct CacheFetching {
    let command: CacheCommand

    private var request: CacheRequest { command.request }
    private var administration: any CacheAdministration { command.administration }
    private var console: CacheConsole { command.console }

    /// Two downloads keep the connection busy during the pauses between requests; more would only delay each
    /// track.
    private static let fetchesAtATime = 2

    /// Pins (`pins` is `true`) or unpins (`false`) the tracks and lists of `sources`, or leaves their pins as
    /// they are (`nil`). Downloads missing bytes if `fetches`.
    func run(_ sources: [String], pins: Bool?, fetches: Bool) async throws -> ExitCode {
        let name: SafeText = pins.map { $0 ? "pin" : "unpin" } ?? "fetch"
        guard let sources = try await NamedEntries(command: command, name: name).sources(sources) else {
            return .nothingPlayed
        }
        let found = await SourceTracks.resolve(sources, by: command.supply)
        try Task.checkCancellation()
        var tally = FetchTally()
        try await take(found, pins: pins, into: &tally)
        if fetches {
            let progress = FetchProgress(painter: console.painter, total: found.tracks.count)
            do {
                try await fetch(found.tracks, isPinned: pins, progress, into: &tally)
            } catch is CancellationError {
                if !request.isJSON { console.note(SafeText(progress.totals.stoppedText)) }
                throw CancellationError()
            }
        } else {
            for track in found.tracks {
                tally.countMark()
                show(try await named(track), nil, isPinned: pins)
            }
        }
        if fetches, !request.isJSON { console.note(SafeText(tally.text)) }
        return tally.exitCode
    }

    /// Reports the problems of `found`, and pins its tracks and lists.
    private func take(_ found: SourceTracks, pins: Bool?, into tally: inout FetchTally) async throws {
        for problem in found.problems {
            if problem.code != .leftOut { tally.countProblem() }
            console.say(problem.safeText)
        }
        // Pinned before any download, so that no track is evicted for the next one.
        if let pins { for url in found.urls { try await administration.setPinned(url, pins) } }
    }

    private func fetch(
        _ tracks: [Track],
        isPinned: Bool?,
        _ progress: FetchProgress,
        into tally: inout FetchTally
    ) async throws {
        let showing = Task {
            if console.painter != nil {
                await progress.drawOn(console.clock)
            } else if !request.isJSON {
                await progress.noteOn(console.clock, write: console.note)
            }
        }
        defer {
            showing.cancel()
            console.painter?.finish()
        }
        var tracks = tracks
        var seen = Set(tracks.map(\.location))
        var cached: [Track] = []
        try await withThrowingTaskGroup(of: (Int, TrackFetch.Outcome).self) { group in
            var (next, running) = (0, 0)
            while true {
                while running < Self.fetchesAtATime, next < tracks.count {
                    let (index, fetch) = (next, trackFetch(tracks[next], next, progress))
                    group.addTask { (index, try await fetch.run()) }
                    next += 1
                    running += 1
                }
                guard let (index, outcome) = try await group.next() else { break }
                running -= 1
                if case .list(let list) = outcome {
                    // Its tracks take its place.
                    var found = SourceTracks()
                    found.lists = list.lists
                    found.problems = list.problems
                    found.tracks = list.tracks.filter { seen.insert($0.location).inserted }
                    try await take(found, pins: isPinned, into: &tally)
                    tracks += found.tracks
                    progress.listFound(of: found.tracks.count)
                    continue
                }
                tally.count(outcome)
                if case .cached = outcome { cached.append(tracks[index]) }
                progress.trackIsDone(outcome)
                show(tracks[index], outcome, isPinned: isPinned)
            }
        }
        // A track may have been evicted to make room for a later one.
        for track in cached {
            guard case .web(let url) = track.location,
                try await administration.info(for: url)?.isComplete != true
            else { continue }
            tally.countLoss()
            show(track, .failed(Self.evicted(track)), isPinned: isPinned)
        }
    }

    private static func evicted(_ track: Track) -> MediaError {
        MediaError(
            .notCached,
            track.location.safeText,
            "was evicted to make room for the others; pin them, or use a larger --cache-size"
        )
    }

    private func trackFetch(_ track: Track, _ index: Int, _ progress: FetchProgress) -> TrackFetch {
        let name = track.tags.title ?? track.location.name
        let administration = administration
        return TrackFetch(
            track: track,
            supply: command.supply,
            entry: { url in try await administration.info(for: url) },
            onReader: { reader in progress.reading(index, name, reader) }
        )
    }

    /// Prints the outcome of `track`; `outcome` is `nil` if it was only pinned or unpinned.
    private func show(_ track: Track, _ outcome: TrackFetch.Outcome?, isPinned: Bool?) {
        if case .failed(let error)? = outcome { console.say(error.safeText) }
        if request.isJSON {
            console.write(EventLine.json(Self.fields(track, outcome, isPinned: isPinned)))
            return
        }
        let word: String
        switch outcome {
        case .cached(let entry, 0): word = "already cached, \(SizeText.text(entry.storedBytes))"
        case .cached(_, let fetched): word = "downloaded \(SizeText.text(fetched))"
        case .local: word = "local file"
        case nil: word = isPinned == true ? "pinned" : "unpinned"
        case .failed, .list: return
        }
        console.write("\(word)  \(Self.name(of: track, outcome))")
    }

    /// `track` with the title and artist of its entry, if it has one.
    private func named(_ track: Track) async throws -> Track {
        guard case .web(let url) = track.location, let entry = try await administration.info(for: url) else {
            return track
        }
        var named = track
        named.tags = TrackTags(title: entry.title, artist: entry.artist).filled(from: track.tags)
        return named
    }

    /// The name that the queue and `cache list` show.
    private static func name(of track: Track, _ outcome: TrackFetch.Outcome?) -> SafeText {
        var tags = track.tags
        if case .cached(let entry, _)? = outcome, let title = entry.title {
            (tags.title, tags.artist) = (title, entry.artist)
        }
        return TrackName.text(tags.title, tags.artist, at: track.location.safeText)
    }

    private static func fields(
        _ track: Track,
        _ outcome: TrackFetch.Outcome?,
        isPinned: Bool?
    ) -> [(key: String, value: EventField)] {
        var title = track.tags.title
        var size = EventField.none
        var fetched = EventField.none
        var failure = EventField.none
        switch outcome {
        case .cached(let entry, let new):
            title = entry.title ?? title
            size = .integer(entry.storedBytes)
            fetched = .integer(new)
        case .local, .list, nil: break
        case .failed(let error):
            failure = .group([
                ("code", .text(SafeText(error.code.rawValue))), ("message", .text(error.safeText)),
            ])
        }
        return [
            ("source", .text(track.location.safeText)), ("title", .text(orNone: title)),
            ("size", size), ("fetched", fetched), ("pinned", isPinned.map { .flag($0) } ?? .none),
            ("error", failure),
        ]
    }
}

/// The counts of a fetch. Pure.
struct FetchTally: Sendable, Equatable {
    private(set) var cachedCount = 0
    private(set) var failedCount = 0
    private(set) var fetchedBytes: Int64 = 0

    mutating func count(_ outcome: TrackFetch.Outcome) {
        switch outcome {
        case .cached(_, let fetched):
            cachedCount += 1
            fetchedBytes += fetched
        case .local: cachedCount += 1
        case .failed: failedCount += 1
        case .list: break
        }
    }

    /// A track that was counted as cached was evicted.
    mutating func countLoss() {
        cachedCount -= 1
        failedCount += 1
    }

    /// A source, or an entry of a list, that could not be resolved.
    mutating func countProblem() { failedCount += 1 }

    /// A track that was pinned or unpinned, and not fetched.
    mutating func countMark() { cachedCount += 1 }

    var exitCode: ExitCode {
        if failedCount == 0 { return .success }
        return cachedCount > 0 ? .someFailed : .nothingPlayed
    }

    /// `3 of 4 tracks are available offline, 12 MB downloaded`.
    var text: String {
        let all = cachedCount + failedCount
        return "\(cachedCount) of \(CountText.of(all, "track")) "
            + "\(cachedCount == 1 || all == 1 ? "is" : "are") available offline, \(SizeText.text(fetchedBytes)) downloaded"
    }
}

/// The tracks and lists of a command's sources.
struct SourceTracks: Sendable {
    /// Each track once, in order.
    var tracks: [Track] = []
    /// The lists from the web among the sources, and the lists nested in those.
    var lists: [WebURL] = []
    /// The sources and entries that could not be read.
    var problems: [MediaError] = []

    /// The tracks and lists from the web.
    var urls: [WebURL] {
        lists + tracks.compactMap { if case .web(let url) = $0.location { url } else { nil } }
    }

    /// Resolves all of `sources`; failures are collected. Ends early if the task is cancelled.
    static func resolve(_ sources: [String], by supply: MusicSupply) async -> SourceTracks {
        var found = SourceTracks()
        var seen = Set<ResourceLocation>()
        var lists = Set<WebURL>()
        for source in sources where !Task.isCancelled {
            do {
                let resolved = try await supply.resolver.tracks(for: source)
                found.tracks += resolved.tracks.filter { seen.insert($0.location).inserted }
                found.problems += resolved.problems
                found.lists += resolved.lists.filter { lists.insert($0).inserted }
            } catch let error as MediaError {
                found.problems.append(error)
            } catch {
                // Cancelled: the caller checks for that.
            }
        }
        return found
    }
}
