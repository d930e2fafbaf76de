/// Checks of option values; each refusal is one sentence that is written where the option is.
enum CheckedValue {
    /// Throws `refusal` unless `isGiven`.
    static func check(_ isGiven: Bool, _ refusal: String) throws(UsageError) {
        guard isGiven else { throw UsageError(refusal) }
    }

    /// `value`, refused where there is none.
    static func value<Value>(_ value: Value?, _ refusal: String) throws(UsageError) -> Value {
        guard let value else { throw UsageError(refusal) }
        return value
    }

    /// `text` as a whole number of `range`.
    static func number(
        _ text: String,
        in range: ClosedRange<Int>,
        _ refusal: String
    ) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else { throw UsageError(refusal) }
        return number
    }

    /// `text`, refused where it is empty.
    static func text(_ text: String, _ refusal: String) throws(UsageError) -> String {
        try check(!text.isEmpty, refusal)
        return text
    }

    /// `text` as bytes.
    static func size(_ text: String, of option: String) throws(UsageError) -> Int64 {
        try value(ByteSize.parse(text), "\(option) takes a size, as 500M or 10GB")
    }
}
