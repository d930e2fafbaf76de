import Media

/// An event and its time as a line of JSON or words. Names and order of the fields are part of the contract
/// with programs that read them.
struct EventLine: Sendable {
    let name: String
    let fields: EventFields
    /// Since the process started.
    let time: Duration

    init(_ event: PlayerEvent, at time: Duration) {
        (name, fields) = Self.contents(of: event)
        self.time = time
    }

    private static func contents(of event: PlayerEvent) -> (name: String, fields: EventFields) {
        switch event {
        case .loaded(let tracks): ("loaded", [("tracks", .count(tracks))])
        case .track(let report): ("track", track(report))
        case .playing(let index, let position, let isExact): ("playing", place(index, position, isExact))
        case .position(let index, let position, let duration, let isExact, let buffered):
            (
                "position",
                [
                    ("index", .count(index)), ("position", .seconds(position)),
                    ("duration", .seconds(orNone: duration)), ("exact", .flag(isExact)),
                    ("buffered", .seconds(buffered)),
                ]
            )
        case .buffering(let index, let position):
            ("buffering", [("index", .count(index)), ("position", .seconds(position))])
        case .paused(let index, let position, let isExact): ("paused", place(index, position, isExact))
        case .seeked(let index, let position, let isExact): ("seeked", place(index, position, isExact))
        case .notice(let code, let message), .remark(let code, let message):
            ("notice", [("code", .text(SafeText(code))), ("message", .text(message))])
        case .ended(let report): ("ended", end(report))
        case .summary(let report):
            (
                "summary",
                [
                    ("played", .count(report.played)), ("failed", .count(report.failed)),
                    ("bytes", bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
                    ("requests", .count(report.requestCount)), ("stalls", .count(report.stalls)),
                ]
            )
        }
    }

    private static func track(_ report: PlayerEvent.TrackReport) -> EventFields {
        var fields: EventFields = [
            ("index", .count(report.index)), ("source", .text(report.source)),
            ("title", .text(orNone: report.tags.title)), ("artist", .text(orNone: report.tags.artist)),
            ("duration", .seconds(orNone: report.duration)), ("seekable", .flag(report.isSeekable)),
        ]
        // Fields that are left out unless they apply, because most tracks have none of them.
        if let cached = report.cached { fields.append(("cached", .fraction(cached))) }
        if report.isLive { fields.append(("live", .flag(true))) }
        if let station = report.station { fields.append(("station", .text(station))) }
        return fields
    }

    private static func place(_ index: Int, _ position: Duration, _ isExact: Bool) -> EventFields {
        [("index", .count(index)), ("position", .seconds(position)), ("exact", .flag(isExact))]
    }

    private static func end(_ report: PlayerEvent.EndReport) -> EventFields {
        let error = report.error.map { error in
            EventField.group([
                ("code", .text(SafeText(error.code.rawValue))), ("message", .text(error.safeText)),
            ])
        }
        return [
            ("index", .count(report.index)), ("reason", .text(SafeText(report.reason.rawValue))),
            ("frames", .integer(report.frames)),
            ("bytes", bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
            ("requests", .count(report.requestCount)), ("stalls", .count(report.stalls)),
            ("error", error ?? .none),
        ]
    }

    private static func bytes(cached: Int64, fetched: Int64) -> EventField {
        .group([("cached", .integer(cached)), ("fetched", .integer(fetched))])
    }
}

// The JSON is written by hand: a coder of FoundationEssentials would not keep the order of the keys, nor
// start as fast.
extension EventLine {
    /// The event as one JSON object (RFC 8259), without a line break.
    var json: String {
        Self.json([("event", .text(SafeText(name))), ("t", .seconds(time))] + fields)
    }

    /// An object with the keys of `fields`, in their order.
    static func json(_ fields: EventFields) -> String {
        "{" + fields.map { "\(quoted($0.key)):\(json($0.value))" }.joined(separator: ",") + "}"
    }

    private static func json(_ value: EventField) -> String {
        switch value {
        case .integer(let number): String(number)
        case .seconds(let duration): decimal(duration)
        case .flag(let flag): flag ? "true" : "false"
        case .fraction(let part): decimal(fraction: part)
        case .text(let text): quoted(text.string)
        case .group(let fields): json(fields)
        case .list(let values): "[" + values.map { json($0) }.joined(separator: ",") + "]"
        case .none: "null"
        }
    }

    static func decimal(fraction: Double) -> String {
        decimal(.milliseconds(Int64(max(0, min(1, fraction)) * 1_000)))
    }

    /// Seconds with up to three decimals, rounded to the nearest millisecond: `12`, `0.05`, `3.125`.
    static func decimal(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        // Half a millisecond, with the sign of the duration, so that rounding is away from zero; both parts
        // of a duration have its sign.
        let half: Int64 = 500_000_000_000_000
        let rounded = (attoseconds + (attoseconds < 0 ? -half : half)) / 1_000_000_000_000_000
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // A length of more than 292 million years is wrong anyway; it must not trap.
        guard !overflow, scaled.magnitude < UInt64(Int64.max) - 1000 else { return String(seconds) }
        let milliseconds = scaled + rounded
        let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        var text = (milliseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        var decimals = String(rest + 1000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        text += "." + decimals
        return text
    }

    /// `text` as a JSON string: quotation marks, backslashes and controls are escaped (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension EventLine {
    /// The event as one line of words: its name, then `key=value` for each known field. Keys of a group are
    /// joined by a dot, and text is quoted as in JSON.
    var words: String {
        ([name] + (fields + [("t", .seconds(time))]).flatMap { Self.words($0.key, $0.value) })
            .joined(separator: " ")
    }

    private static func words(_ key: String, _ value: EventField) -> [String] {
        switch value {
        case .integer(let number): ["\(key)=\(number)"]
        case .seconds(let duration): ["\(key)=\(decimal(duration))"]
        case .flag(let flag): ["\(key)=\(flag)"]
        case .fraction(let part): ["\(key)=\(decimal(fraction: part))"]
        case .text(let text): ["\(key)=\(quoted(text.string))"]
        case .group(let fields): fields.flatMap { words("\(key).\($0.key)", $0.value) }
        case .list(let values): values.enumerated().flatMap { words("\(key).\($0.offset + 1)", $0.element) }
        case .none: []
        }
    }
}

/// Keys and values in the order in which they are written.
typealias EventFields = [(key: String, value: EventField)]

/// A value of an event or of the journal, which is written as JSON or as words.
enum EventField: Sendable {
    case integer(Int64)
    /// Seconds, to the millisecond.
    case seconds(Duration)
    case flag(Bool)
    /// 0...1 with three decimals, rounded down, so that only the whole is 1.
    case fraction(Double)
    case text(SafeText)
    case group(EventFields)
    case list([EventField])
    /// Unknown: `null` in JSON, left out in words.
    case none

    static func count(_ number: Int) -> EventField { .integer(Int64(number)) }

    static func text(orNone text: SafeText?) -> EventField { text.map { .text($0) } ?? .none }

    static func seconds(orNone duration: Duration?) -> EventField { duration.map { .seconds($0) } ?? .none }
}
