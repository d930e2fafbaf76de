import Glibc
import Media

extension CacheCommand {
    func export(_ order: CacheRequest.ExportOrder) async throws -> ExitCode {
        let url = try webURL(order.source, of: "export")
        guard let entry = try await administration.info(url) else {
            console.say("cache export: nothing of that source is kept; cache list shows what is")
            return .nothingPlayed
        }
        // Known before a byte is read: a piece with gaps is not written twice for nothing.
        if !entry.isComplete, !order.takesPart {
            sayGaps(entry.length.map { entry.stored.gaps(in: 0..<$0) } ?? [], of: entry, isWritten: false)
            return .someFailed
        }
        let file = try ExportFile(path: order.path, replaces: order.replaces)
        guard let report = try await administration.export(url, into: file.descriptor) else {
            console.say("cache export: nothing of that source is kept; cache list shows what is")
            return .nothingPlayed
        }
        try Task.checkCancellation()
        if !report.isWhole, !order.takesPart {
            sayGaps(report.gaps, of: entry, isWritten: false)
            return .someFailed
        }
        try file.publish()
        guard !report.isWhole else { return .success }
        sayGaps(report.gaps, of: entry, isWritten: true)
        return .someFailed
    }

    private func sayGaps(_ gaps: [ByteRange], of entry: CacheListing, isWritten: Bool) {
        let ranges = gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", ")
        let missing =
            ranges.isEmpty
            ? "its length is not known"
            : "\(ByteSize.text(gaps.reduce(0) { $0 + Int64($1.count) })) are missing, bytes \(ranges)"
        let end =
            isWritten
            ? "zeros stand in their place" : "nothing was written; play it, fetch it, or say --partial"
        console.say(entry.source + ": not whole: " + SafeText(missing) + "; " + SafeText(end))
    }
}
