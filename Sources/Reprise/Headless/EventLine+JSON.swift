import Media

/// JSON is written here by hand: the objects are flat and their values of five kinds, and a coder from
/// FoundationEssentials would neither keep the order of the keys nor start as fast.
extension EventLine {
    /// The event as one JSON object (RFC 8259), without a line break.
    var json: String {
        Self.json([("event", .text(SafeText(name))), ("t", .seconds(time))] + fields)
    }

    /// An object with its keys in the given order.
    static func json(_ fields: [(key: String, value: EventField)]) -> String {
        "{" + fields.map { "\(quoted($0.key)):\(json($0.value))" }.joined(separator: ",") + "}"
    }

    private static func json(_ value: EventField) -> String {
        switch value {
        case .integer(let number): String(number)
        case .seconds(let duration): decimal(duration)
        case .flag(let flag): flag ? "true" : "false"
        case .text(let text): quoted(text.string)
        case .group(let fields): json(fields)
        case .list(let values): "[" + values.map { json($0) }.joined(separator: ",") + "]"
        case .none: "null"
        }
    }

    /// Seconds with up to three decimals, rounded to the nearest millisecond: `12`, `0.05`, `3.125`.
    static func decimal(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        // Half a millisecond away from zero; both parts of a duration have its sign.
        let half: Int64 = 500_000_000_000_000
        let rounded = (attoseconds + (attoseconds < 0 ? -half : half)) / 1_000_000_000_000_000
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // Beyond 292 million years a length is a lie anyway; it must only not trap.
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
