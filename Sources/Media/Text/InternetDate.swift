internal import Glibc

/// A time that a server or a publisher states, and the day that this was for its writer. Pure.
package struct InternetDate: Sendable, Equatable {
    /// Seconds since 1970 UTC.
    package var seconds: Int64
    /// Seconds that the writer's clock is ahead of UTC.
    package var offset: Int64

    package init(seconds: Int64, offset: Int64 = 0) {
        self.seconds = seconds
        self.offset = offset
    }

    /// The day as it was written: `2026-11-23`.
    package var day: String {
        var clock = time_t(seconds + offset)
        var parts = tm()
        gmtime_r(&clock, &parts)
        let padded = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return "\(Int(parts.tm_year) + 1_900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    }

    /// Parses the date of an RSS feed (RFC 2822 §3.3, such as `Mon, 23 Nov 2026 08:05:00 +0100`), of an Atom
    /// feed (RFC 3339), or of HTTP in its three forms (RFC 9110 §5.6.7). `nil` for anything else.
    ///
    /// Takes each everywhere, since publishers mix them, and what feeds are known to write: full and foreign
    /// names of months, the month first, the year behind the time, `-`, `/` or dots between numbers or
    /// nothing, no name of the day, no seconds, no time of day, times of twelve hours, years of two digits,
    /// which are from 1970 to 2069. `11/12/2026` is in November, as in the US. A zone that is missing or
    /// unknown counts as UTC.
    package init?(parsing text: some StringProtocol) {
        let words = Self.words(of: String(text))
        guard words.count >= 3, let midnight = Self.midnight(words) else { return nil }
        let time = words.dropFirst(3).joined(separator: " ")
        let clock = time.prefix { $0.isNumber || $0 == ":" || $0 == "." }
        let rest = time[clock.endIndex...].split(separator: " ").map { $0.uppercased() }
        guard let seconds = time.isEmpty ? 0 : Self.secondsOfDay(clock, half: rest.first) else { return nil }
        let offset = Self.zoneOffset(rest)
        self.init(seconds: midnight + seconds - offset, offset: offset)
    }

    /// The three fields of the day, and the words behind them.
    private static func words(of text: String) -> [Substring] {
        var words = text.split { $0.isWhitespace || $0 == "," }
        // The name of the day is not checked.
        if words.first?.first?.isLetter == true, let name = words.first, month(name) == nil {
            words.removeFirst()
        }
        guard let start = words.first, start.first?.isLetter == false else { return asctime(words) }
        // The time of day may follow a `T`.
        let parts = start.split(maxSplits: 1) { $0 == "T" || $0 == "t" }
        if parts.count == 2 { words.replaceSubrange(0...0, with: parts) }
        let date = words[0]
        let fields = date.split(omittingEmptySubsequences: false) { "-/.".contains($0) }
        if fields.count == 3, !fields[2].isEmpty {
            // In numbers between slashes the month comes before the day.
            let isMonthFirst =
                date.contains("/") && number(fields[0], 1...12) != nil && number(fields[1], 1...31) != nil
            words.replaceSubrange(0...0, with: isMonthFirst ? [fields[1], fields[0], fields[2]] : fields)
        } else if date.utf8.count == 8, number(date.prefix(4), 1970...9999) != nil {
            words.replaceSubrange(0...0, with: [date.prefix(4), date.dropFirst(4).prefix(2), date.suffix(2)])
        }
        return words
    }

    /// Puts the year, which follows the time of day in `Nov 23 08:05:30 2026`, behind the day.
    private static func asctime(_ words: [Substring]) -> [Substring] {
        guard words.count > 3, words[2].contains(":"),
            let place = words.lastIndex(where: { number($0, 1970...9999) != nil })
        else { return words }
        var words = words
        words.insert(words.remove(at: place), at: 2)
        return words
    }

    // MARK: The day

    /// The months by the beginnings of their English, German, French, Spanish, Portuguese and Italian names.
    private static let months: [String: Int64] = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
        "nov": 11, "dec": 12, "mär": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "avr": 4, "juin": 6,
        "juil": 7, "aoû": 8, "déc": 12, "ene": 1, "abr": 4, "ago": 8, "dic": 12, "fev": 2, "set": 9,
        "out": 10, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10,
    ]

    private static func month(_ text: Substring) -> Int64? {
        let name = text.lowercased()
        return months[String(name.prefix(3))] ?? months[String(name.prefix(4))]
    }

    /// The start of the day of the first three fields: day, month and year, or year, month and day, or a
    /// month's name first. The 31st of a shorter month counts as a day of the next one.
    private static func midnight(_ fields: [Substring]) -> Int64? {
        let isYearFirst = fields[0].utf8.count == 4 && number(fields[0], 1970...9999) != nil
        let isMonthFirst = month(fields[0]) != nil
        let monthField = isMonthFirst ? fields[0] : fields[1]
        let dayField = isYearFirst ? fields[2] : isMonthFirst ? fields[1] : fields[0]
        // `23rd`, `23.`
        guard let day = number(dayField.prefix { $0.isNumber }, 1...31),
            let month = month(monthField) ?? number(monthField, 1...12),
            let year = fullYear(isYearFirst ? fields[0] : fields[2])
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(year - 1_900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        return Int64(timegm(&parts))
    }

    private static func fullYear(_ text: Substring) -> Int64? {
        if text.utf8.count == 4 { return number(text, 1970...9999) }
        guard text.utf8.count == 2, let short = number(text, 0...99) else { return nil }
        return short < 70 ? 2000 + short : 1900 + short
    }

    // MARK: The time of day

    /// In hours (RFC 2822 §4.3).
    private static let zones: [String: Int64] = [
        "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
        "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "AEST": 10, "AEDT": 11,
    ]

    /// Parses `08:05`, `08:05:30`, `08:05:30.25` or `080530`; a fraction is dropped. `half` is the word
    /// behind it, which may be `AM` or `PM`.
    private static func secondsOfDay(_ clock: Substring, half: String?) -> Int64? {
        var parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        if clock.utf8.count == 6, parts.count == 1 {
            parts = [clock.prefix(2), clock.dropFirst(2).prefix(2), clock.suffix(2)]
        }
        guard (2...3).contains(parts.count), var hours = number(parts[0], 0...24),
            let minutes = number(parts[1], 0...59)
        else { return nil }
        if (half == "AM" || half == "PM"), hours <= 12 { hours = hours % 12 + (half == "PM" ? 12 : 0) }
        let seconds = parts.count == 3 ? number(parts[2].prefix { $0 != "." }, 0...60) : 0
        return seconds.map { hours * 3_600 + minutes * 60 + $0 }
    }

    /// Parses the zone in the words behind the time of day: `+0100`, `+01:00`, `+1`, `GMT+1` or a name; 0 for
    /// anything else.
    private static func zoneOffset(_ words: [String]) -> Int64 {
        guard let word = words.first(where: { $0 != "AM" && $0 != "PM" }) else { return 0 }
        if let hours = zones[word] { return hours * 3_600 }
        guard let sign = word.firstIndex(where: { $0 == "+" || $0 == "-" }) else { return 0 }
        let digits = word[sign...].dropFirst().filter { $0 != ":" }
        let hourCount = digits.utf8.count > 2 ? digits.utf8.count - 2 : digits.utf8.count
        let minutes = digits.dropFirst(hourCount)
        guard let hours = number(digits.prefix(hourCount), 0...23),
            let minutes = minutes.isEmpty ? 0 : number(minutes, 0...59)
        else { return 0 }
        return (hours * 3_600 + minutes * 60) * (word[sign] == "-" ? -1 : 1)
    }

    private static func number(_ text: some StringProtocol, _ allowed: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.count <= 4, let number = Int64(digits: text.utf8) else { return nil }
        return allowed.contains(number) ? number : nil
    }
}
