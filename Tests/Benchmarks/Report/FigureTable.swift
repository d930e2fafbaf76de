/// All figures in order, with the values of each player.
struct FigureTable: Codable {
    private(set) var figures: [Figure] = []
    /// The parts that could not be measured, with reasons.
    private(set) var skipped: [String] = []

    mutating func skip(_ what: String) {
        if !skipped.contains(what) { skipped.append(what) }
    }

    /// Adds a value of one player to the figure of this name, and creates the figure if needed.
    mutating func add(
        _ section: String,
        _ name: String,
        _ unit: Figure.Unit,
        _ player: PlayerKind = .reprise,
        _ value: Double?,
        goal: String? = nil,
        limit: Double? = nil
    ) {
        let index = index(of: name, in: section, unit)
        if let goal { figures[index].goal = goal }
        if let limit { figures[index].limit = limit }
        if let value { figures[index].values[player.rawValue, default: []].append(value) }
    }

    /// States why a player has no value here; a value takes precedence.
    mutating func add(
        _ section: String,
        _ name: String,
        _ unit: Figure.Unit,
        _ player: PlayerKind,
        absent reason: String
    ) {
        figures[index(of: name, in: section, unit)].absences[player.rawValue] = reason
    }

    /// Sets the goal of a figure to `factor` times the median of `peer`.
    mutating func limit(_ name: String, in section: String, toPeers factor: Double, _ peer: PlayerKind) {
        guard let index = figures.firstIndex(where: { $0.name == name && $0.section == section }),
            let median = figures[index].values[peer.rawValue].flatMap(Statistics.init)?.median
        else { return }
        figures[index].limit = median * factor
    }

    func median(_ name: String, of player: PlayerKind = .reprise) -> Double? {
        figures.first { $0.name == name }?.values[player.rawValue].flatMap(Statistics.init)?.median
    }

    private mutating func index(of name: String, in section: String, _ unit: Figure.Unit) -> Int {
        if let index = figures.firstIndex(where: { $0.name == name && $0.section == section }) {
            return index
        }
        let new = Figure(section: section, name: name, unit: unit)
        // After the last figure of its section, so that sections stay together.
        let index = figures.lastIndex { $0.section == section }.map { $0 + 1 } ?? figures.count
        figures.insert(new, at: index)
        return index
    }

    /// Adds `durations` in milliseconds as values of Reprise.
    mutating func add(
        _ section: String,
        _ name: String,
        durations: [Duration],
        goal: String? = nil,
        limit: Double? = nil
    ) {
        for duration in durations {
            add(section, name, .milliseconds, .reprise, duration / .milliseconds(1), goal: goal, limit: limit)
        }
    }
}

/// One figure with the values of each player.
struct Figure: Codable, Equatable {
    /// The unit, which decides the format.
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

    /// The table that it belongs to.
    var section: String
    var name: String
    var unit: Unit
    /// The goal of Reprise, in words.
    var goal: String?
    /// The largest value that reaches the goal, if the goal is a number.
    var limit: Double?
    /// All values by player, in the order measured.
    var values: [String: [Double]] = [:]
    /// The reason for a missing value, by player.
    var absences: [String: String] = [:]

    /// The least median of the other players, with the player's name.
    var bestPeer: (name: String, median: Double)? {
        let medians = values.filter { $0.key != PlayerKind.reprise.rawValue }
            .compactMap { name, values in Statistics(values).map { (name: name, median: $0.median) } }
        return medians.min { ($0.median, $0.name) < ($1.median, $1.name) }
    }

    /// Reprise's median divided by the best peer's; `nil` if there is no peer or its median is 0.
    var ratio: Double? {
        guard let own = values[PlayerKind.reprise.rawValue].flatMap(Statistics.init), let peer = bestPeer,
            peer.median > 0
        else { return nil }
        return own.median / peer.median
    }

    /// `true` if the goal is reached; `nil` if it is not a number.
    var isReached: Bool? {
        guard let limit, let own = values[PlayerKind.reprise.rawValue].flatMap(Statistics.init) else {
            return nil
        }
        return own.median <= limit
    }
}

/// The median and the extremes of measured values.
struct Statistics: Equatable {
    var median: Double
    var least: Double
    var most: Double

    /// `nil` without values. Of an even number of values, the lower of the two in the middle is the median:
    /// a value that was measured.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let least = sorted.first, let most = sorted.last else { return nil }
        median = sorted[(sorted.count - 1) / 2]
        self.least = least
        self.most = most
    }
}
