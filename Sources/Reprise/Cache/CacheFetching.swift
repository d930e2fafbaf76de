import Cache
import Media
import Playback

/// `reprise cache fetch`, `pin` and `unpin`.
struct CacheFetching {
    let command: CacheCommand
    /// `true` pins the tracks and lists, `false` unpins them, `nil` leaves their pins as they are.
    let pins: Bool?

    private var request: CacheRequest { command.request }
    private var administration: any CacheAdministration { command.administration }
    private var console: CacheConsole { command.console }

    /// Two downloads keep the connection busy during the pauses between requests; more would only delay each
    /// track.
    private static let fetchesAtATime = 2

    /// Pins or unpins `sources`, and downloads their missing bytes if `fetches`.
    func run(_ sources: [String], fetches: Bool) async throws -> ExitCode {
        let name: SafeText = pins.map { $0 ? "pin" : "unpin" } ?? "fetch"
        let names = NamedEntries(command: command, name: name)
        guard let named = try await names.divided(sources, byURL: fetches) else { return .nothingPlayed }
        let found = await command.supply.tracks(of: named.others)
        try Task.checkCancellation()
        let progress = FetchProgress(painter: fetches ? console.painter : nil, total: found.tracks.count)
        try await receive(found, progress)
        guard fetches else {
            for entry in named.entries {
                try await administration.setPinned(entry.id, pins == true)
                mark(entry.url, entry.tags, progress)
            }
            for track in found.tracks {
                var tags = track.tags
                if case .web(let url) = track.location, let entry = try await administration.info(for: url) {
                    tags = entry.tags.filled(from: tags)
                }
                mark(track.location.safeText, tags, progress)
            }
            return progress.totals.exitCode
        }
        do {
            try await fetch(found.tracks, progress)
        } catch is CancellationError {
            if !request.isJSON { console.note(SafeText(progress.totals.stoppedText)) }
            throw CancellationError()
        }
        if !request.isJSON { console.note(SafeText(progress.totals.summary)) }
        return progress.totals.exitCode
    }

    /// Counts and prints a track that was pinned or unpinned, and not fetched.
    private func mark(_ source: SafeText, _ tags: TrackTags, _ progress: FetchProgress) {
        progress.update { $0.count(.local) }
        show(source, tags, nil)
    }

    /// Reports the problems of `found`, and pins its tracks and lists.
    private func receive(_ found: ResolvedTracks, _ progress: FetchProgress) async throws {
        for problem in found.problems {
            if problem.code != .leftOut { progress.update { $0.countProblem() } }
            console.say(problem.safeText)
        }
        // Pinned before any download, so that no track is evicted for the next one.
        if let pins { for url in found.urls { try await administration.setPinned(url, pins) } }
    }

    private func fetch(_ tracks: [Track], _ progress: FetchProgress) async throws {
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
        try await withThrowingTaskGroup(of: (Int, FetchOutcome).self) { group in
            var next = 0
            var running = 0
            while true {
                while running < Self.fetchesAtATime, next < tracks.count {
                    group.addTask { [index = next, track = tracks[next]] in
                        (index, try await outcome(of: track, index, progress))
                    }
                    next += 1
                    running += 1
                }
                guard let (index, outcome) = try await group.next() else { break }
                running -= 1
                if case .list(var found) = outcome {
                    // Its tracks take its place.
                    found.tracks.removeAll { !seen.insert($0.location).inserted }
                    try await receive(found, progress)
                    tracks += found.tracks
                    progress.update { [count = found.tracks.count] in $0.listFound(of: count) }
                    continue
                }
                progress.update { $0.count(outcome) }
                let track = tracks[index]
                if case .cached = outcome { cached.append(track) }
                show(track.location.safeText, track.tags, outcome)
            }
        }
        // A track may have been evicted to make room for a later one.
        for track in cached {
            guard case .web(let url) = track.location,
                try await administration.info(for: url)?.isComplete != true
            else { continue }
            progress.update { $0.countLoss() }
            show(track.location.safeText, track.tags, .failed(Self.evicted(track)))
        }
    }

    private static func evicted(_ track: Track) -> MediaError {
        MediaError(
            .notCached,
            track.location.safeText,
            "was evicted to make room for the others; pin them, or use a larger --cache-size"
        )
    }

    /// Downloads `track` to its end; of a local file, only checks that it is music.
    private func outcome(of track: Track, _ index: Int, _ progress: FetchProgress) async throws
        -> FetchOutcome
    {
        let supply = command.supply
        let download = TrackDownload(
            of: track,
            open: { try await supply.opener.open($0.location, of: $0.episode) },
            makeDecoder: supply.makeDecoder,
            openStream: supply.openStream,
            resolver: supply.resolver,
            clock: console.clock
        ) { step in
            switch step {
            case .opened(let reader): progress.began(index, track.tags.title ?? track.location.name, reader)
            case .closing: progress.ended(index)
            case .learned, .progressed: break
            }
        }
        do {
            let report: LoadReport
            switch try await download.run() {
            case .list(let list): return .list(list)
            case .music(let last): report = last
            }
            guard case .web(let url) = track.location else { return .local }
            // Looked up last, because only bytes that the index records will be found the next time.
            if let entry = try await administration.info(for: url), entry.isComplete {
                return .cached(entry, fetched: report.fetchedBytes)
            }
            var cause = supply.lastNotCached().map { "not cached: " + $0.safeText }
            if report.live != nil { cause = "a live stream can't be cached" }
            return .failed(
                MediaError(
                    .notCached,
                    track.location.safeText,
                    cause ?? "its server forbids caching it, or the cache is full"
                )
            )
        } catch let error as MediaError {
            return .failed(error)
        }
    }

    /// Prints the outcome for a track at `source`; `outcome` is `nil` if it was only pinned or unpinned. The
    /// title of its entry, which the queue and `cache list` show, precedes that of `tags`.
    private func show(_ source: SafeText, _ tags: TrackTags, _ outcome: FetchOutcome?) {
        var tags = tags
        var size = EventField.none
        var fetched = EventField.none
        var failure = EventField.none
        var word: String?
        switch outcome {
        case .cached(let entry, let new):
            if entry.tags.title != nil { tags = entry.tags }
            size = .integer(entry.storedBytes)
            fetched = .integer(new)
            word =
                new == 0
                ? "already cached, \(SizeText.text(entry.storedBytes))" : "downloaded \(SizeText.text(new))"
        case .local: word = "local file"
        case nil: word = pins == true ? "pinned" : "unpinned"
        case .failed(let error):
            console.say(error.safeText)
            failure = .group([
                ("code", .text(SafeText(error.code.rawValue))), ("message", .text(error.safeText)),
            ])
        case .list: break
        }
        guard word != nil || request.isJSON else { return }
        command.write(
            [
                ("source", .text(source)), ("title", .text(orNone: tags.title)), ("size", size),
                ("fetched", fetched), ("pinned", pins.map { .flag($0) } ?? .none), ("error", failure),
            ],
            or: ["\(word ?? "")  \(TrackName.text(tags.title, tags.artist, at: source))"]
        )
    }
}

/// The result of a download for one track.
enum FetchOutcome: Sendable, Equatable {
    /// All of it is cached in an entry; `fetched` bytes were downloaded now.
    case cached(CachedItem, fetched: Int64)
    /// A local file that can be played, which needs no cache.
    case local
    /// A list instead of music, of these tracks.
    case list(ResolvedTracks)
    case failed(MediaError)
}
