import Media

/// One value of an event, before it is written as JSON or as words.
enum EventField: Sendable {
    case integer(Int64)
    /// Seconds, to the millisecond.
    case seconds(Duration)
    case flag(Bool)
    case text(SafeText)
    case group([(key: String, value: EventField)])
    case list([EventField])
    /// Not known: `null` in JSON, left out in words.
    case none

    static func text(orNone text: SafeText?) -> EventField { text.map { .text($0) } ?? .none }

    static func seconds(orNone duration: Duration?) -> EventField { duration.map { .seconds($0) } ?? .none }
}
