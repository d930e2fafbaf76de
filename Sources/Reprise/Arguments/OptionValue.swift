/// Parses values of options.
///
/// A refusal states what to write instead. It follows ArgumentParser's "The value '101' is invalid for
/// '--volume <percent>': ".
enum OptionValue {
    static func accepted<Value>(_ value: Value?, _ refusal: String) throws(UsageError) -> Value {
        guard let value else { throw UsageError(refusal) }
        return value
    }

    /// A whole number in `range`.
    static func number(
        _ text: String,
        in range: ClosedRange<Int>,
        _ refusal: String
    ) throws(UsageError) -> Int {
        try accepted(Int(text).flatMap { range.contains($0) ? $0 : nil }, refusal)
    }

    /// A text that is not empty.
    static func text(_ text: String, _ refusal: String) throws(UsageError) -> String {
        try accepted(text.isEmpty ? nil : text, refusal)
    }

    /// A number of bytes. A small one without a unit, as `10`, was probably meant to have one, so it is
    /// refused.
    static func size(_ text: String) throws(UsageError) -> Int64 {
        let bytes = try accepted(ByteSize.parse(text), "use a size as 500M or 10GB")
        let lacksUnit = text.last?.isNumber == true && (1..<1000).contains(bytes)
        return try accepted(lacksUnit ? nil : bytes, "a size needs its unit, as 500M or 10GB")
    }
}

/// Sizes as typed; `SizeText` displays them.
enum ByteSize {
    /// Decimal units by their letter, binary ones by a letter and `i`. All but `k` are upper-case: `5m` could
    /// mean minutes, so it is refused rather than guessed.
    private static let units: [String: Double] = [
        "": 1, "B": 1,
        "k": 1e3, "kB": 1e3, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6,
        "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
        "Ki": 1024, "KiB": 1024, "Mi": 1_048_576, "MiB": 1_048_576,
        "Gi": 1_073_741_824, "GiB": 1_073_741_824, "Ti": 1_099_511_627_776, "TiB": 1_099_511_627_776,
    ]

    /// The bytes of `10GB`, `1.5 GiB`, `500M` or `4096`; `nil` for any other text and from 2^62 on.
    static func parse(_ text: String) -> Int64? {
        let number = text.prefix { "0123456789.".contains($0) }
        let unit = text.dropFirst(number.count).drop { $0 == " " }
        guard number.first?.isNumber == true, let value = Double(number), let scale = units[String(unit)]
        else { return nil }
        let bytes = (value * scale).rounded()
        guard bytes < 0x1p62 else { return nil }
        return Int64(bytes)
    }
}
