import Media

extension CacheCommand {
    /// Two keep a line busy through the pauses between requests; more would only make each piece later.
    static let fetchesAtATime = 2

    /// Pins, unpins or leaves the pins as they are (nil), and fetches what is missing.
    func keep(_ sources: [String], pins: Bool?, fetches: Bool) async throws -> ExitCode {
        let found = await SourceTracks.resolve(sources, by: supply)
        try Task.checkCancellation()
        var tally = FetchTally()
        for problem in found.problems {
            tally.countProblem()
            console.say(problem.safeText)
        }
        if let pins {
            // Before anything is fetched, so that no piece has to make room for the next one.
            for url in found.urls { try await administration.setPinned(url, pins) }
        }
        if fetches {
            try await fetch(found.tracks, isPinned: pins, into: &tally)
        } else {
            for track in found.tracks {
                tally.countMark()
                show(track, nil, isPinned: pins)
            }
        }
        if fetches, !request.isJSON { console.note(SafeText(tally.text)) }
        return tally.exitCode
    }

    private func fetch(_ tracks: [Track], isPinned: Bool?, into tally: inout FetchTally) async throws {
        let progress = console.painter.map { FetchProgress(painter: $0, total: tracks.count) }
        let drawing = progress.map { progress in Task { await progress.drawOn(console.clock) } }
        defer {
            drawing?.cancel()
            console.painter?.finish()
        }
        var kept: [Track] = []
        try await withThrowingTaskGroup(of: (Int, TrackFetch.Outcome).self) { group in
            var next = 0
            func startNext() {
                guard next < tracks.count else { return }
                let index = next
                next += 1
                let fetch = trackFetch(tracks[index], index, progress)
                group.addTask { (index, try await fetch.run()) }
            }
            for _ in 0..<Self.fetchesAtATime { startNext() }
            while let (index, outcome) = try await group.next() {
                tally.count(outcome)
                if case .kept = outcome { kept.append(tracks[index]) }
                progress?.pieceIsDone()
                show(tracks[index], outcome, isPinned: isPinned)
                startNext()
            }
        }
        // A piece may have had to make room for one that came after it.
        for track in kept {
            guard case .web(let url) = track.location,
                try await administration.info(url)?.isComplete != true
            else { continue }
            tally.countLoss()
            show(track, .failed(Self.wentAgain(track)), isPinned: isPinned)
        }
    }

    private static func wentAgain(_ track: Track) -> MediaError {
        MediaError(
            .notKept,
            track.location.safeText,
            "went again to make room for the others; pin them, or name a larger --cache-size"
        )
    }

    private func trackFetch(_ track: Track, _ index: Int, _ progress: FetchProgress?) -> TrackFetch {
        let name = track.tags.title ?? track.location.name
        let administration = administration
        return TrackFetch(
            track: track,
            supply: supply,
            entry: { url in try await administration.info(url) },
            onReader: { reader in progress?.reading(index, name, reader) }
        )
    }

    /// Tells what became of `track`; without an outcome it was only marked.
    private func show(_ track: Track, _ outcome: TrackFetch.Outcome?, isPinned: Bool?) {
        if case .failed(let error)? = outcome { console.say(error.safeText) }
        if request.isJSON {
            console.write(EventLine.json(Self.fields(track, outcome, isPinned: isPinned)))
            return
        }
        let word: String
        switch outcome {
        case .kept(let entry, 0): word = "kept already, \(ByteSize.text(entry.storedBytes))"
        case .kept(_, let fetched): word = "fetched \(ByteSize.text(fetched))"
        case .local: word = "local file"
        case nil: word = isPinned == true ? "pinned" : "unpinned"
        case .failed: return
        }
        console.write("\(word)  \(track.location.safeText)")
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
        case .kept(let entry, let new):
            title = entry.title ?? title
            size = .integer(entry.storedBytes)
            fetched = .integer(new)
        case .local, nil: break
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
