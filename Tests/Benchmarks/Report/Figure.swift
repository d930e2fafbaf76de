/// One thing that is measured, and what was measured of it for each player.
struct Figure: Codable, Equatable {
    /// What the number counts, and so how it is written.
    enum Unit: String, Codable {
        case milliseconds = "ms"
        case seconds = "s"
        case megabytes = "MB"
        case kilobytes = "KB"
        case count = ""
        case perSecond = "/s"
        case instructions
        case percent = "%"
    }

    /// The part of the table it stands in.
    var section: String
    var name: String
    var unit: Unit
    /// What Reprise is meant to reach, in words.
    var goal: String?
    /// Where the limit is a number, the largest that reaches the goal.
    var limit: Double?
    /// All values by player, in the order measured.
    var values: [String: [Double]] = [:]
    /// By player, why there is no value.
    var absences: [String: String] = [:]

    /// The least of the medians of all players but Reprise, and whose it is.
    var bestPeer: (name: String, median: Double)? {
        let medians = values.filter { $0.key != PlayerKind.reprise.rawValue }
            .compactMap { name, values in Statistics(values).map { (name: name, median: $0.median) } }
        return medians.min { ($0.median, $0.name) < ($1.median, $1.name) }
    }

    /// How many times the best peer's value Reprise's is; nil where there is no peer or it has 0.
    var ratio: Double? {
        guard let own = values[PlayerKind.reprise.rawValue].flatMap(Statistics.init), let peer = bestPeer,
            peer.median > 0
        else { return nil }
        return own.median / peer.median
    }

    /// Whether the goal is reached; nil where it is not a number.
    var isReached: Bool? {
        guard let limit, let own = values[PlayerKind.reprise.rawValue].flatMap(Statistics.init) else {
            return nil
        }
        return own.median <= limit
    }
}
