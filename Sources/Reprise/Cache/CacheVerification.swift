import Cache
import Media
import System

/// `reprise cache verify`.
struct CacheVerification {
    let command: CacheCommand

    func run() async throws -> ExitCode {
        let console = command.console
        let report = try await command.administration.verify(progress: progress)
        console.painter?.finish()
        for entry in report.damaged {
            console.write(
                command.request.isJSON
                    ? EventLine.json([
                        ("source", .text(entry.url)), ("damaged", EntryFields.ranges(entry.ranges.ranges)),
                    ]) : "damaged: \(entry.url)"
            )
        }
        if command.request.isJSON {
            console.write(Self.json(report))
        } else {
            for line in Self.lines(report) { console.write(line) }
        }
        return report.isSound ? .success : .someFailed
    }

    /// Draws the progress on the terminal, or prints a line for every tenth. With JSON there is no progress.
    private var progress: @Sendable (VerifyProgress) -> Void {
        if command.request.isJSON { return { _ in } }
        if let painter = command.console.painter {
            return { progress in
                let (checked, total) = (progress.bytes, progress.totalBytes)
                let note = SafeText("\(ByteSize.text(checked)) of \(ByteSize.text(total))")
                let line = ProgressBar.line(
                    label: "checking",
                    done: checked,
                    total: total,
                    note: note,
                    style: painter.style
                )
                painter.show([line], isLast: checked >= total)
            }
        }
        let steps = Locked(ProgressSteps())
        let note = command.console.note
        return { progress in
            let total = progress.totalBytes
            guard let percent = steps.withLock({ $0.percent(done: progress.bytes, total: total) }) else {
                return
            }
            note(SafeText("checked \(percent) % of \(ByteSize.text(total))"))
        }
    }

    private static func lines(_ report: VerifyReport) -> [String] {
        var lines: [String] = []
        if report.indexWasDamaged {
            lines.append("the index was damaged: it was set aside, and the cache is empty now")
        }
        if report.orphansRemoved > 0 {
            let files = CountText.of(report.orphansRemoved, "file", "files")
            lines.append("removed \(files) that belonged to no track")
        }
        if report.reclaimedBytes > 0 {
            lines.append("freed \(ByteSize.text(report.reclaimedBytes)) that nothing needed")
        }
        let tracks = CountText.of(report.entries, "track", "tracks")
        let checked = "checked \(tracks), \(ByteSize.text(report.bytes))"
        guard !report.isSound else { return lines + ["\(checked): all OK"] }
        let damaged = CountText.of(report.damaged.count, "track", "tracks")
        return lines + [
            "\(checked): \(ByteSize.text(report.damagedBytes)) in \(damaged) were damaged; "
                + (report.leftBytes == 0
                    ? "they are downloaded again when played"
                    : "can't drop \(ByteSize.text(report.leftBytes)): the folder is read-only or full")
        ]
    }

    private static func json(_ report: VerifyReport) -> String {
        EventLine.json([
            ("entries", .integer(Int64(report.entries))),
            ("bytes", .integer(report.bytes)),
            ("damagedEntries", .integer(Int64(report.damaged.count))),
            ("damagedBytes", .integer(report.damagedBytes)),
            ("undroppedBytes", .integer(report.leftBytes)),
            ("strayFiles", .integer(Int64(report.orphansRemoved))),
            ("reclaimedBytes", .integer(report.reclaimedBytes)),
            ("indexLost", .flag(report.indexWasDamaged)),
        ])
    }
}

/// Progress without a terminal: a line for every tenth. Pure.
struct ProgressSteps: Sendable {
    private var printedTenths = 0

    /// The percentage to print when `done` of `total` bytes are checked; `nil` if it was printed before.
    mutating func percent(done: Int64, total: Int64) -> Int? {
        guard total > 0 else { return nil }
        let tenths = Int(max(0, min(1, Double(done) / Double(total))) * 10)
        guard tenths > printedTenths else { return nil }
        printedTenths = tenths
        return tenths * 10
    }
}
