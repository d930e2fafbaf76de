import Media

/// Finds which title of a live stream the decoder has reached. Pure.
///
/// Reads of a live stream end where a title begins, so the first frames that follow a read beyond the place of
/// a title are its first frames, but for the one or two that a decoder holds back.
struct LiveTitles: Sendable {
    private(set) var station: Station
    /// Titles before this offset were told.
    private var toldTo: Int64 = -1

    /// Nil for what is no live stream.
    init?(report: LiveReport?) {
        guard let report else { return nil }
        station = report.station
    }

    /// The newest title whose bytes were read by now; nil when there is none since the last call.
    mutating func news(in report: LiveReport) -> SafeText? {
        station = report.station
        guard let title = report.titles.last(where: { $0.offset < report.readTo }), title.offset > toldTo
        else {
            return nil
        }
        toldTo = title.offset
        return title.text
    }
}
