import Media

/// A line of the journal: names and order of the fields are part of the contract.
///
/// Every line has `t` (seconds since the process started), `event` and `resource` (without secrets).
///
/// `"event":"request"`, when a request has ended:
/// - `number`: counts up through the process;
/// - `why`: `demand`, `read-ahead`, `prefetch`, `fill` or `revalidate`;
/// - `asked`: the bytes asked for, first and last (`0-65535`), or from the first on (`65536-`); null for the whole;
/// - `started`: when it began; `firstByte`: seconds from there to the answer's head; `duration`: to its end;
/// - `status`: of the last answer; null when none came;
/// - `answered`: where the answer's bytes belong, as `asked`; null when it has none or does not say;
/// - `bytes`: body bytes received;
/// - `end`: `complete`, `cancelled`, or the code of what went wrong;
/// - `version` (`HTTP/1.1`, `HTTP/2`, …), `reused` (whether the connection was there before) and `host` (where a
///   redirect led to another), each null where it is not known.
///
/// `"event":"decision"`, when something was decided that no single request tells:
/// - `decision`: `retry-later`, `gave-up`, `read-through`, `reconnect`, `without-ranges`, `changed`,
///   `went-offline`, `went-online` or `live`;
/// - `reason`: in words.
struct JournalLine: Sendable {
    let fields: [(key: String, value: EventField)]

    init(_ record: JournalRecord) {
        let place: [(key: String, value: EventField)] = [("resource", .text(record.resource))]
        switch record.event {
        case .request(let request):
            fields =
                [("t", .seconds(record.time)), ("event", .text("request"))] + place
                + Self.fields(of: request)
        case .decision(let decision, let reason):
            fields =
                [("t", .seconds(record.time)), ("event", .text("decision"))] + place + [
                    ("decision", .text(SafeText(decision.rawValue))), ("reason", .text(reason)),
                ]
        }
    }

    /// Without a line break.
    var json: String { EventLine.json(fields) }

    private static func fields(of request: RequestRecord) -> [(key: String, value: EventField)] {
        [
            ("number", .integer(Int64(request.number))),
            ("why", .text(SafeText(request.why.rawValue))),
            ("asked", range(request.asked)),
            ("started", .seconds(request.startedAt)),
            ("firstByte", .seconds(orNone: request.firstByte)),
            ("duration", .seconds(request.duration)),
            ("status", request.status.map { .integer(Int64($0)) } ?? .none),
            ("answered", range(request.answered)),
            ("bytes", .integer(request.bytes)),
            ("end", .text(SafeText(request.end))),
            ("version", request.wire.version.isEmpty ? .none : .text(SafeText(request.wire.version))),
            ("reused", request.wire.reusedConnection.map { .flag($0) } ?? .none),
            ("host", .text(orNone: request.wire.redirectedHost)),
        ]
    }

    /// As a `Range` header tells it: first and last.
    private static func range(_ range: ByteRange?) -> EventField {
        guard let range else { return .none }
        guard !range.isEmpty else { return .none }
        let last = range.upperBound == .max ? "" : String(range.upperBound - 1)
        return .text(SafeText("\(range.lowerBound)-\(last)"))
    }
}
