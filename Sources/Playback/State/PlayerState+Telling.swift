import Media

// What is said of a track.
extension PlayerState {
    func announce(_ run: Run) -> [PlayerEffect] {
        let tags = tags(of: run)
        let title = tags.title ?? run.track.location.name
        let source = run.isLive ? run.station?.name.flatMap { $0 == title ? nil : $0 } : tags.artist
        return [trackEvent(run), .setTitle(source.map { $0 + " – " + title } ?? title)]
    }

    func trackEvent(_ run: Run) -> PlayerEffect {
        var report = PlayerEvent.TrackReport(
            index: index(of: run),
            source: run.track.location.safeText,
            tags: tags(of: run),
            duration: duration(of: run),
            isSeekable: run.isSeekable
        )
        report.isLive = run.isLive
        report.station = run.station?.name
        return .emit(.track(report))
    }

    /// What the music says of itself, and for a live stream the title of what is heard.
    func tags(of run: Run) -> TrackTags {
        let tags = (run.info?.tags ?? TrackTags()).filled(from: run.track.tags)
        guard let station = run.station else { return tags }
        // Titles of streams have the artist in them, in no order that could be relied on.
        let title = run.streamTitle.flatMap { $0.isEmpty ? nil : $0 }
        return TrackTags(title: title ?? station.name ?? tags.title, album: station.name ?? tags.title)
    }

    /// A live stream has no length, whatever a playlist says of it.
    func duration(of run: Run) -> Duration? {
        run.isLive ? nil : run.info?.duration ?? run.track.duration
    }

    /// Remembers what a track said of itself, so that the queue still knows when another is current.
    mutating func learn(from run: Run) {
        guard let info = run.info, !run.isLive, queue.place(of: run.track.id) != nil else { return }
        // An estimate is no better than what the playlist says.
        let knows = info.isDurationExact || run.track.duration == nil
        let facts = TrackFacts(
            tags: info.tags.filled(from: run.track.tags),
            duration: knows ? duration(of: run) : run.track.duration
        )
        if learned[run.track.id] != facts { learned[run.track.id] = facts }
    }

    /// The queue's tracks with all that is known of them, for lists to be saved.
    var describedTracks: [Track] {
        queue.tracks.map { track in
            guard let facts = learned[track.id] else { return track }
            var track = track
            (track.tags, track.duration) = (facts.tags, facts.duration)
            return track
        }
    }

    /// What the music says of itself, as it is shown.
    func info(of run: Run) -> StreamInfo? {
        guard var info = run.info, run.isLive else { return run.info }
        info.tags = tags(of: run)
        info.duration = nil
        return info
    }
}
