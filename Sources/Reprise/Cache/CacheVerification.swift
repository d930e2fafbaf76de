import Cache
import Media
import System

/// `reprise cache verify`.
struct CacheVerification {
    let command: CacheCommand

    func run() async throws -> ExitCode {
        let console = command.console
        let report = try await command.administration.verify(
            progress: progress,
            isDamaged: command.supply.isDamaged
        )
        console.painter?.finish()
        for entry in report.damaged {
            command.write(
                [("source", .text(entry.url)), ("damaged", .ranges(entry.ranges.ranges))],
                or: ["damaged: \(entry.url)"]
            )
        }
        for url in report.damagedAtServer {
            command.write(
                [("source", .text(url)), ("damagedAtServer", .flag(true))],
                or: ["damaged at the server (wrong MD5): \(url)"]
            )
        }
        command.write(Self.fields(report), or: Self.lines(report))
        return report.isSound && report.damagedAtServer.isEmpty ? .success : .someFailed
    }

    /// Draws the progress if the output is a terminal. Otherwise only the last line reports the number of
    /// tracks checked.
    private var progress: @Sendable (VerifyProgress) -> Void {
        guard let painter = command.console.painter else { return { _ in } }
        return { progress in
            let checked = progress.bytes
            let total = progress.totalBytes
            let line = ProgressBar.line(
                label: "checking",
                done: checked,
                total: total,
                note: SafeText("\(SizeText.text(checked)) of \(SizeText.text(total))"),
                style: painter.style
            )
            painter.show([line], isLast: checked >= total)
        }
    }

    private static func lines(_ report: VerifyReport) -> [String] {
        var lines: [String] = []
        if report.indexWasDamaged {
            lines.append("the index was damaged: it was set aside, and the cache is empty now")
        }
        if report.orphansRemoved > 0 {
            let files = CountText.of(report.orphansRemoved, "file")
            lines.append("removed \(files) that belonged to no track")
        }
        if report.reclaimedBytes > 0 {
            lines.append("freed \(SizeText.text(report.reclaimedBytes)) that nothing needed")
        }
        let tracks = CountText.of(report.entries, "track")
        let checked = "checked \(tracks), \(SizeText.text(report.bytes))"
        guard !report.isSound else {
            let isOK = report.damagedAtServer.isEmpty
            return lines + ["\(checked): \(isOK ? "all OK" : "all as downloaded, nothing was deleted")"]
        }
        let damaged = CountText.of(report.damaged.count, "track")
        return lines + [
            "\(checked): \(SizeText.text(report.damagedBytes)) in \(damaged) were damaged; "
                + (report.leftBytes == 0
                    ? "they are downloaded again when played"
                    : "can't drop \(SizeText.text(report.leftBytes)): the folder is read-only or full")
        ]
    }

    private static func fields(_ report: VerifyReport) -> [(key: String, value: EventField)] {
        [
            ("entries", .integer(Int64(report.entries))),
            ("bytes", .integer(report.bytes)),
            ("damagedEntries", .integer(Int64(report.damaged.count))),
            ("damagedBytes", .integer(report.damagedBytes)),
            ("damagedAtServer", .integer(Int64(report.damagedAtServer.count))),
            ("undroppedBytes", .integer(report.leftBytes)),
            ("strayFiles", .integer(Int64(report.orphansRemoved))),
            ("reclaimedBytes", .integer(report.reclaimedBytes)),
            ("indexLost", .flag(report.indexWasDamaged)),
        ]
    }
}
