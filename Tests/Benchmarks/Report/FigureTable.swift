/// All figures in order, with the values of each player.
struct FigureTable: Codable {
    private(set) var figures: [Figure] = []
    /// The parts that could not be measured, with reasons.
    private(set) var skipped: [String] = []
    /// The table to which figures are added.
    private var section = ""

    private enum CodingKeys: CodingKey { case figures, skipped }

    mutating func skip(_ what: String) {
        if !skipped.contains(what) { skipped.append(what) }
    }

    /// Adds later figures to the table with this name.
    mutating func begin(_ section: String) { self.section = section }

    /// Adds a value of one player to the figure of this name, and creates the figure if needed.
    ///
    /// The goal of Reprise is `goal`, in words, and `limit`, as a number; each is enough. If a player has no
    /// value at all, the table shows `reason`.
    mutating func add(
        _ name: String,
        _ unit: Figure.Unit,
        _ value: Double?,
        of player: PlayerKind = .reprise,
        atMost limit: Double? = nil,
        goal: String? = nil,
        absent reason: String? = nil
    ) {
        let index = index(of: name, unit)
        if let limit { figures[index].limit = limit }
        if let goal = goal ?? limit.map({ Figure.goal($0, unit) }) { figures[index].goal = goal }
        if let value {
            figures[index].values[player.rawValue, default: []].append(value)
        } else if let reason {
            figures[index].absences[player.rawValue] = reason
        }
    }

    /// Adds `durations` as values of Reprise; `limit` is in milliseconds.
    mutating func add(_ name: String, _ durations: [Duration], atMost limit: Double? = nil) {
        for duration in durations { add(name, .milliseconds, duration / .milliseconds(1), atMost: limit) }
    }

    /// Sets the goal of measured figures: `limit`, which is a multiple of another figure and may be unknown.
    mutating func limit(_ names: String..., to limit: Double?, goal: String) {
        for index in figures.indices where figures[index].section == section {
            guard names.contains(figures[index].name) else { continue }
            figures[index].limit = limit
            figures[index].goal = goal
        }
    }

    /// The median of the first figure of this name, in whichever section.
    func median(_ name: String, of player: PlayerKind = .reprise) -> Double? {
        figures.first { $0.name == name }?.values[player.rawValue].flatMap(Statistics.init)?.median
    }

    private mutating func index(of name: String, _ unit: Figure.Unit) -> Int {
        if let index = figures.firstIndex(where: { $0.name == name && $0.section == section }) {
            return index
        }
        let new = Figure(section: section, name: name, unit: unit)
        // After the last figure of its section, so that sections stay together.
        let index = figures.lastIndex { $0.section == section }.map { $0 + 1 } ?? figures.count
        figures.insert(new, at: index)
        return index
    }
}

/// One figure with the values of each player.
struct Figure: Codable, Equatable {
    /// The unit, which decides the format.
    enum Unit: String, Codable {
        case milliseconds = "ms"
        case seconds = "s"
        case megabytes = "MB"
        case count = ""
        case perSecond = "/s"
        case instructions

        /// Its sign behind a number.
        var suffix: String {
            switch self {
            case .count, .instructions: ""
            case .perSecond: rawValue
            default: " " + rawValue
            }
        }
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

    /// A goal in words for a limit in `unit`.
    static func goal(_ limit: Double, _ unit: Unit) -> String {
        limit == 0 ? "0" : "≤ \(Int(limit))\(unit.suffix)"
    }

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
