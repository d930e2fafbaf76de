import Media
import System

extension CacheCommand {
    func verify() async throws -> ExitCode {
        let report = try await administration.verify(progress: progress)
        console.painter?.finish()
        for entry in report.damaged {
            console.write(
                request.isJSON
                    ? EventLine.json([
                        ("source", .text(entry.source)), ("damaged", EntryFields.ranges(entry.ranges.ranges)),
                    ]) : "damaged: \(entry.source)"
            )
        }
        if request.isJSON {
            console.write(Self.json(report))
        } else {
            for line in Self.lines(report) { console.write(line) }
        }
        return report.isSound ? .success : .someFailed
    }

    /// What hears of the progress: the terminal, else a line for every tenth, and nobody with JSON.
    private var progress: @Sendable (Int64, Int64) -> Void {
        if request.isJSON { return { _, _ in } }
        if let painter = console.painter {
            return { checked, total in
                let note = SafeText("\(ByteSize.text(checked)) of \(ByteSize.text(total))")
                painter.show(
                    [
                        ProgressBar.line(
                            label: "checking",
                            done: checked,
                            total: total,
                            note: note,
                            style: painter.style
                        )
                    ],
                    isLast: checked >= total
                )
            }
        }
        let steps = LockedSteps()
        let note = console.note
        return { checked, total in
            guard let percent = steps.percent(done: checked, total: total) else { return }
            note(SafeText("checked \(percent) % of \(ByteSize.text(total))"))
        }
    }

    static func lines(_ report: CheckReport) -> [String] {
        var lines: [String] = []
        if report.isIndexLost {
            lines.append("the index was damaged: it was set aside, and the cache is empty now")
        }
        if report.strayFiles > 0 {
            lines.append(
                "removed \(CountText.of(report.strayFiles, "file", "files")) that belonged to no entry"
            )
        }
        if report.reclaimedBytes > 0 {
            lines.append("freed \(ByteSize.text(report.reclaimedBytes)) that nothing needed")
        }
        let entries = CountText.of(report.entries, "entry", "entries")
        let checked = "checked \(entries), \(ByteSize.text(report.bytes))"
        guard !report.isSound else { return lines + ["\(checked): all is good"] }
        let damaged = CountText.of(report.damaged.count, "entry", "entries")
        return lines + [
            "\(checked): \(ByteSize.text(report.damagedBytes)) in \(damaged) were damaged; "
                + (report.leftBytes == 0
                    ? "they are dropped, and fetched again when they are played"
                    : "\(ByteSize.text(report.leftBytes)) could not be dropped, for the folder takes nothing")
        ]
    }

    private static func json(_ report: CheckReport) -> String {
        EventLine.json([
            ("entries", .integer(Int64(report.entries))),
            ("bytes", .integer(report.bytes)),
            ("damagedEntries", .integer(Int64(report.damaged.count))),
            ("damagedBytes", .integer(report.damagedBytes)),
            ("undroppedBytes", .integer(report.leftBytes)),
            ("strayFiles", .integer(Int64(report.strayFiles))),
            ("reclaimedBytes", .integer(report.reclaimedBytes)),
            ("indexLost", .flag(report.isIndexLost)),
        ])
    }
}

/// Steps that several threads may tell of.
private final class LockedSteps: Sendable {
    private let steps = Locked(ProgressSteps())

    func percent(done: Int64, total: Int64) -> Int? {
        steps.withLock { $0.percent(done: done, total: total) }
    }
}
