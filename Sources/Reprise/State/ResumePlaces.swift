import Media

/// Where long tracks were left in their middle, so that they go on there.
struct ResumePlaces: Sendable, Equatable {
    /// Tracks that are longer: podcasts and books, hardly songs.
    static let shortestTrack = Duration.seconds(20 * 60)
    /// So near to the start or the end nobody was in the middle.
    static let margin = Duration.seconds(30)
    /// The places of those that were heard longest ago are forgotten.
    static let most = 500

    private var positions: [String: Duration] = [:]
    /// The locations, those heard last at the end.
    private var order: [String] = []

    /// Those heard last at the end.
    var all: [(location: String, position: Duration)] {
        order.compactMap { key in positions[key].map { (key, $0) } }
    }

    func position(of location: String) -> Duration? { positions[location] }

    mutating func set(_ position: Duration, for location: String) {
        if positions.updateValue(position, forKey: location) == nil || order.last != location {
            order.removeAll { $0 == location }
            order.append(location)
        }
        if order.count > Self.most { positions[order.removeFirst()] = nil }
    }

    /// A track is heard at `position`. One that is heard to its end begins at its start the next time.
    mutating func heard(_ location: String, at position: Duration, of duration: Duration?) {
        guard let duration, duration > Self.shortestTrack, position >= Self.margin else { return }
        if duration - position >= Self.margin {
            set(position, for: location)
        } else if positions.removeValue(forKey: location) != nil {
            order.removeAll { $0 == location }
        }
    }
}
