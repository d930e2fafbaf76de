import Foundation

/// What was measured: a name, a figure and its unit in each line.
struct FigureTable {
    private var lines: [(name: String, figure: String, unit: String)] = []

    mutating func add(_ name: String, _ figure: Double, _ unit: String) {
        lines.append((name, String(format: figure < 100 ? "%.3f" : "%.0f", figure), unit))
    }

    /// The median of `durations`, in milliseconds.
    mutating func add(_ name: String, medianOf durations: [Duration]) {
        guard !durations.isEmpty else { return }
        let median = durations.sorted()[durations.count / 2]
        add(name, median / .milliseconds(1), "ms")
    }

    var text: String {
        let width = lines.map(\.name.count).max() ?? 0
        return lines.map { line in
            let name = line.name.padding(toLength: width, withPad: " ", startingAt: 0)
            let figure = String(repeating: " ", count: max(0, 10 - line.figure.count)) + line.figure
            return "\(name) \(figure) \(line.unit)"
        }.joined(separator: "\n")
    }
}

/// How long `body` takes.
func time(_ body: () async throws -> Void) async rethrows -> Duration {
    let begun = ContinuousClock.now
    try await body()
    return ContinuousClock.now - begun
}
