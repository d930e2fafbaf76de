import Media

/// The dates of header fields, in the three forms that a recipient must understand (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Seconds since 1970 UTC; `nil` if `text` is not a date.
    ///
    /// Accepts `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    /// The name of the day is not checked.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split { " ,-".contains($0) }
        guard words.count >= 5, words.count <= 6, words.count == 5 || words[5] == "GMT" else { return nil }
        // The old form of C has the month first and no time zone, but is in GMT too.
        let isOldForm = words.count == 5
        let day = isOldForm ? words[2] : words[1]
        let month = isOldForm ? words[1] : words[2]
        let year = isOldForm ? words[4] : words[3]
        let time = isOldForm ? words[3] : words[4]
        guard let day = number(day, 1...31), let month = months.firstIndex(of: String(month)),
            let year = fullYear(year), let time = secondsOfDay(time)
        else { return nil }
        return CalendarDay(year: year, month: Int64(month) + 1, day: day).daysSince1970 * 86_400 + time
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Two digits mean a year from 1970 to 2069; no server sends dates outside that range.
    private static func fullYear(_ text: Substring) -> Int64? {
        if text.utf8.count == 4 { return number(text, 1970...9999) }
        guard text.utf8.count == 2, let short = number(text, 0...99) else { return nil }
        return short < 70 ? 2000 + short : 1900 + short
    }

    /// Parses `08:49:37`; a leap second counts as the next second.
    private static func secondsOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = number(parts[0], 0...23), let minutes = number(parts[1], 0...59),
            let seconds = number(parts[2], 0...60)
        else { return nil }
        return hours * 3_600 + minutes * 60 + seconds
    }

    private static func number(_ text: Substring, _ allowed: ClosedRange<Int64>) -> Int64? {
        ContentRange.number(text).flatMap { allowed.contains($0) ? $0 : nil }
    }
}
