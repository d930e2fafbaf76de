import Media

/// The last line of a session that is not shown as JSON, for people.
enum SessionSummary {
    /// `played 8 tracks; 1.9 MB from the network, 0 B from the cache, 12 requests`, with what failed.
    static func text(_ report: PlayerEvent.SummaryReport) -> String {
        let failed = report.failed > 0 ? ", \(report.failed) failed" : ""
        return "played \(count(report.played, "track"))\(failed); "
            + "\(ByteSize.text(report.fetchedBytes)) from the network, "
            + "\(ByteSize.text(report.cachedBytes)) from the cache, \(count(report.requestCount, "request"))"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
