import Media

// What is said of a track.
extension PlayerState {
    func announce(_ pass: Pass) -> [PlayerEffect] {
        let tags = tags(of: pass)
        let title = tags.title ?? pass.track.location.name
        let source = pass.isLive ? pass.station?.name.flatMap { $0 == title ? nil : $0 } : tags.artist
        return [trackEvent(pass), .setTitle(source.map { $0 + " – " + title } ?? title)]
    }

    func trackEvent(_ pass: Pass) -> PlayerEffect {
        var report = PlayerEvent.TrackReport(
            index: index(of: pass),
            source: pass.track.location.safeText,
            tags: tags(of: pass),
            duration: duration(of: pass),
            isSeekable: pass.isSeekable
        )
        report.isLive = pass.isLive
        report.station = pass.station?.name
        return .emit(.track(report))
    }

    /// What the music says of itself, and for a live stream the title of what is heard.
    func tags(of pass: Pass) -> TrackTags {
        let tags = (pass.info?.tags ?? TrackTags()).filled(from: pass.track.tags)
        guard let station = pass.station else { return tags }
        // Titles of streams have the artist in them, in no order that could be relied on.
        let title = pass.streamTitle.flatMap { $0.isEmpty ? nil : $0 }
        return TrackTags(title: title ?? station.name ?? tags.title, album: station.name ?? tags.title)
    }

    /// A live stream has no length, whatever a playlist says of it.
    func duration(of pass: Pass) -> Duration? {
        pass.isLive ? nil : pass.info?.duration ?? pass.track.duration
    }

    /// Remembers what a track said of itself, so that the queue still knows when another is current.
    mutating func learn(from pass: Pass) {
        guard let info = pass.info, !pass.isLive, queue.place(of: pass.track.id) != nil else { return }
        // An estimate is no better than what the playlist says.
        let knows = info.isDurationExact || pass.track.duration == nil
        let facts = TrackFacts(
            tags: info.tags.filled(from: pass.track.tags),
            duration: knows ? duration(of: pass) : pass.track.duration
        )
        if learned[pass.track.id] != facts { learned[pass.track.id] = facts }
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
    func info(of pass: Pass) -> StreamInfo? {
        guard var info = pass.info, pass.isLive else { return pass.info }
        info.tags = tags(of: pass)
        info.duration = nil
        return info
    }
}
