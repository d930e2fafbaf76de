import Foundation

/// The table as Markdown, aligned so that it also reads well in a terminal.
struct MarkdownTable {
    let table: FigureTable
    let players: [PlayerKind]

    /// A table for each section that has figures.
    var text: String {
        var sections: [String] = []
        for figure in table.figures where !sections.contains(figure.section) {
            sections.append(figure.section)
        }
        let parts = sections.map { section in
            let figures = table.figures.filter { $0.section == section }
            // A section of Reprise alone has no columns for other players.
            let players = players.filter { player in figures.contains { $0.values[player.rawValue] != nil } }
            return Self.lines(figures, players, section).joined(separator: "\n")
        }
        let skipped = table.skipped.map { "Not measured: \($0)." }
        return (parts + (skipped.isEmpty ? [] : [skipped.joined(separator: "\n")])).joined(separator: "\n\n")
    }

    private static func lines(_ figures: [Figure], _ players: [PlayerKind], _ section: String) -> [String] {
        let hasPeers = players.contains { $0 != .reprise }
        var rows = [[section] + players.map(\.rawValue) + (hasPeers ? ["× best peer"] : []) + ["goal"]]
        for figure in figures {
            let cells = players.map { player in
                if let statistics = figure.values[player.rawValue].flatMap(Statistics.init) {
                    return cell(statistics, figure.unit)
                }
                return figure.absences[player.rawValue] ?? "–"
            }
            let ratio = hasPeers ? [figure.ratio.map { String(format: "%.2f", $0) } ?? "–"] : []
            rows.append([figure.name] + cells + ratio + [goal(figure)])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let texts = rows.map { row in
            "| "
                + zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
                .joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return [texts[0], rule] + texts.dropFirst()
    }

    private static func goal(_ figure: Figure) -> String {
        guard let goal = figure.goal else { return "" }
        return switch figure.isReached {
        case true?: goal + " ✓"
        case false?: goal + " **missed**"
        case nil: goal
        }
    }

    /// The median, with the spread if there is one.
    static func cell(_ statistics: Statistics, _ unit: Figure.Unit) -> String {
        let median = number(statistics.median, unit)
        let least = number(statistics.least, unit)
        let most = number(statistics.most, unit)
        return median + unit.suffix + (least == most ? "" : " (\(least)–\(most))")
    }

    private static func number(_ value: Double, _ unit: Figure.Unit) -> String {
        switch unit {
        case .count, .instructions: String(format: value == value.rounded() ? "%.0f" : "%.1f", value)
        default: String(format: value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value)
        }
    }
}

/// `docs/benchmarks.md`: the tables, with the date, the machine and the method.
struct BenchmarkDocument {
    let tables: String
    /// A day, as `2026-11-21`.
    let date: String
    let machine: String
    /// The target of `make`.
    let target: String

    var text: String {
        """
        # Benchmarks

        Written by `make \(target) BENCH="--report docs/benchmarks.md"` on \(date); release build on \(machine).

        Medians, with the least and the most where they differ. Every player has a server (`reprise-origin`) and a PulseAudio
        null sink of its own. Sound counts when it is heard at the sink's monitor; the pitch of the music tells which second it
        is. “× best peer” divides Reprise's median by the best one of the others: below 1, Reprise is ahead. `make bench` takes
        a quarter of an hour, `make bench-quick` four minutes, with fewer rounds and without cut lines, ten-hour files and the
        index.

        \(tables)

        """
    }
}
