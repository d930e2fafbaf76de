// Measures this machine, players side by side: `make bench`. See `BenchOptions.usage`.
import Foundation

guard let options = BenchOptions(Array(CommandLine.arguments.dropFirst())) else {
    FileHandle.standardError.write(Data((BenchOptions.usage + "\n").utf8))
    exit(64)
}
switch options.task {
case .micro(let name, let repetitions):
    guard let micro = Micro.all.first(where: { $0.name == name }) else {
        FileHandle.standardError.write(
            Data("no \(name): \(Micro.all.map(\.name).joined(separator: ", "))\n".utf8)
        )
        exit(64)
    }
    try await micro.run(repetitions)
case .counts:
    exit(try await Counts.check() ? 0 : 1)
case .table(let isQuick):
    let (table, players) = try await Bench(options: options, isQuick: isQuick).measure()
    let tables = MarkdownTable(table: table, players: players).text
    let report = JSONReport(table)
    print(tables)
    try report.write(to: options.json)
    print("\nall values: \(options.json)")
    if let path = options.report {
        let document = BenchmarkDocument(
            tables: tables,
            date: String(report.date.prefix(10)),
            machine: report.machine,
            target: isQuick ? "bench-quick" : "bench"
        )
        try document.text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
