import Media

/// An event with its time, as it is written: names and order of the fields are the contract.
struct EventLine: Sendable {
    let name: String
    let fields: [(key: String, value: EventField)]
    /// Since the process started.
    let time: Duration

    init(_ event: PlayerEvent, at time: Duration) {
        self.time = time
        switch event {
        case .loaded(let tracks):
            name = "loaded"
            fields = [("tracks", .integer(Int64(tracks)))]
        case .track(let report):
            name = "track"
            var known: [(key: String, value: EventField)] = [
                ("index", .integer(Int64(report.index))),
                ("source", .text(report.source)),
                ("title", .text(orNone: report.tags.title)),
                ("artist", .text(orNone: report.tags.artist)),
                ("duration", .seconds(orNone: report.duration)),
                ("seekable", .flag(report.isSeekable)),
            ]
            // Only where there is something to say.
            if let cached = report.cached { known.append(("cached", .fraction(cached))) }
            if report.isLive { known.append(("live", .flag(true))) }
            if let station = report.station { known.append(("station", .text(station))) }
            fields = known
        case .playing(let index, let position, let isExact):
            name = "playing"
            fields = Self.place(index, position, isExact)
        case .position(let index, let position, let duration, let isExact, let buffered):
            name = "position"
            fields = [
                ("index", .integer(Int64(index))),
                ("position", .seconds(position)),
                ("duration", .seconds(orNone: duration)),
                ("exact", .flag(isExact)),
                ("buffered", .seconds(buffered)),
            ]
        case .buffering(let index, let position):
            name = "buffering"
            fields = [("index", .integer(Int64(index))), ("position", .seconds(position))]
        case .paused(let index, let position, let isExact):
            name = "paused"
            fields = Self.place(index, position, isExact)
        case .seeked(let index, let position, let isExact):
            name = "seeked"
            fields = Self.place(index, position, isExact)
        case .notice(let code, let message):
            name = "notice"
            fields = [("code", .text(SafeText(code))), ("message", .text(message))]
        case .ended(let report):
            name = "ended"
            fields = Self.end(report)
        case .summary(let report):
            name = "summary"
            fields = [
                ("played", .integer(Int64(report.played))),
                ("failed", .integer(Int64(report.failed))),
                ("bytes", Self.bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
                ("requests", .integer(Int64(report.requestCount))),
                ("stalls", .integer(Int64(report.stalls))),
            ]
        }
    }

    private static func place(
        _ index: Int,
        _ position: Duration,
        _ isExact: Bool
    ) -> [(key: String, value: EventField)] {
        [("index", .integer(Int64(index))), ("position", .seconds(position)), ("exact", .flag(isExact))]
    }

    private static func end(_ report: PlayerEvent.EndReport) -> [(key: String, value: EventField)] {
        let error = report.error.map { error in
            EventField.group([
                ("code", .text(SafeText(error.code.rawValue))), ("message", .text(error.safeText)),
            ])
        }
        return [
            ("index", .integer(Int64(report.index))),
            ("reason", .text(SafeText(report.reason.rawValue))),
            ("frames", .integer(report.frames)),
            ("bytes", bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
            ("requests", .integer(Int64(report.requestCount))),
            ("stalls", .integer(Int64(report.stalls))),
            ("error", error ?? .none),
        ]
    }

    private static func bytes(cached: Int64, fetched: Int64) -> EventField {
        .group([("cached", .integer(cached)), ("fetched", .integer(fetched))])
    }
}
