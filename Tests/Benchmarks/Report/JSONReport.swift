import Foundation

/// The values of every round, with the date and the machine.
struct JSONReport: Codable {
    var date: String
    var machine: String
    var table: FigureTable

    init(_ table: FigureTable) {
        date = ISO8601DateFormatter().string(from: Date())
        machine = Self.machine
        self.table = table
    }

    /// The number and kind of processors, and the system.
    static var machine: String {
        let text = { (path: String) in (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let value = { (line: Substring?, mark: Character) in
            (line?.split(separator: mark, maxSplits: 1).last).map {
                $0.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
            }
        }
        let processor = value(
            text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") },
            ":"
        )
        let system = value(
            text("/etc/os-release").split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME") },
            "="
        )
        let count = ProcessInfo.processInfo.processorCount
        return "\(count) × \(processor ?? "unknown processor"), \(system ?? "unknown system")"
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
