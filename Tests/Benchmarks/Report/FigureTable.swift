/// All that was measured, in order: figures of players side by side, and plain ones of the machine.
struct FigureTable: Codable {
    private(set) var figures: [Figure] = []
    /// What could not be measured, and why.
    private(set) var skipped: [String] = []

    mutating func skip(_ what: String) {
        if !skipped.contains(what) { skipped.append(what) }
    }

    /// Adds a value of one player to the figure of this name, made where there is none.
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

    /// Says why a player has no value here; one that gets a value all the same keeps it.
    mutating func add(
        _ section: String,
        _ name: String,
        _ unit: Figure.Unit,
        _ player: PlayerKind,
        absent reason: String
    ) {
        figures[index(of: name, in: section, unit)].absences[player.rawValue] = reason
    }

    /// Sets a goal that depends on what was measured of a peer: `factor` times the best one's median.
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
        // Behind the last of its section, so that a part of the table stays together.
        let index = figures.lastIndex { $0.section == section }.map { $0 + 1 } ?? figures.count
        figures.insert(new, at: index)
        return index
    }

    /// The median of `durations`, in milliseconds, as values of the player itself.
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
