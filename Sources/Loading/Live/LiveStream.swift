import Media

/// A body without end, played from a bounded buffer.
final class LiveStream: Sendable {
    private let url: WebURL

    init(
        url: WebURL,
        transport: any RangeTransport,
        clock: any MonotonicClock,
        settings: LoadSettings,
        journal: (any RequestJournal)?,
        numbers: RequestNumbers
    ) {
        self.url = url
    }

    /// Takes over `response`, whose next byte lies at `offset`.
    func begin(_ response: RangeResponse, at offset: Int64) { response.body.cancel() }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        throw MediaError(
            .connectionFailed,
            url.safeText,
            "the server sends on and on without saying how much; live streams cannot be played yet"
        )
    }

    func add(to report: inout LoadReport) {
        report.length = nil
        report.isSeekable = false
        report.isKept = false
    }

    func close() async {}
}
