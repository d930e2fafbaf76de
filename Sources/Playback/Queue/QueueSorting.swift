import Media

/// Puts tracks in order by what is known of them. Pure.
///
/// What is compared is made once for each track: a queue of 100,000 is compared with itself two million times.
struct QueueSorting {
    var key: SortKey
    var facts: [Track.ID: TrackFacts]

    /// The places of `tracks` in the new order.
    func places(of tracks: [Track]) -> [Int] {
        switch key {
        case .title: Self.sorted(tracks.map { title(of: $0) })
        case .artist:
            // Beyond every letter: no artist comes last.
            Self.sorted(tracks.map { (artist(of: $0) ?? "\u{10FFFF}") + "\u{0}" + title(of: $0) })
        case .duration: Self.sorted(tracks.map { facts[$0.id]?.duration ?? $0.duration ?? .seconds(1e12) })
        case .source: Self.sorted(tracks.map { $0.location.safeText.string })
        }
    }

    private func title(of track: Track) -> String {
        (facts[track.id]?.tags.title ?? track.tags.title ?? track.location.name).string.lowercased()
    }

    private func artist(of track: Track) -> String? {
        (facts[track.id]?.tags.artist ?? track.tags.artist)?.string.lowercased()
    }

    private static func sorted<Value: Comparable>(_ values: [Value]) -> [Int] {
        values.indices.sorted { (values[$0], $0) < (values[$1], $1) }
    }
}
