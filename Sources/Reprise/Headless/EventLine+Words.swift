import Media

extension EventLine {
    /// The event as one line of words: its name, then `key=value` for all that is known; keys inside
    /// another are joined by a dot, and text is quoted as in JSON.
    var words: String {
        ([name] + (fields + [("t", .seconds(time))]).flatMap { Self.words($0.key, $0.value) })
            .joined(separator: " ")
    }

    private static func words(_ key: String, _ value: EventField) -> [String] {
        switch value {
        case .integer(let number): ["\(key)=\(number)"]
        case .seconds(let duration): ["\(key)=\(decimal(duration))"]
        case .flag(let flag): ["\(key)=\(flag)"]
        case .text(let text): ["\(key)=\(quoted(text.string))"]
        case .group(let fields): fields.flatMap { words("\(key).\($0.key)", $0.value) }
        case .list(let values): values.enumerated().flatMap { words("\(key).\($0.offset + 1)", $0.element) }
        case .none: []
        }
    }
}
