/// The time at which an episode was published, and the day that this was for its publisher. Pure.
package struct FeedDate: Sendable, Equatable {
    /// Seconds since 1970 UTC.
    package var seconds: Int64
    /// Seconds that the publisher's clock is ahead of UTC.
    package var offset: Int64

    package init(seconds: Int64, offset: Int64 = 0) { (self.seconds, self.offset) = (seconds, offset) }

    /// The day as the publisher wrote it: `2026-11-23`.
    package var day: String {
        let clock = seconds + offset
        return CalendarDay(daysSince1970: clock / 86_400 - (clock % 86_400 < 0 ? 1 : 0)).text
    }

    /// Parses the date of an RSS feed (RFC 2822 §3.3, such as `Mon, 23 Nov 2026 08:05:00 +0100`) or of an Atom
    /// feed (RFC 3339); either in both, since publishers mix them. `nil` for anything else.
    ///
    /// Also takes what feeds are known to write: full names of months, no name of the day, no seconds, no time
    /// of day, years of two digits. A zone that is missing or unknown counts as UTC.
    package init?(parsing text: some StringProtocol) {
        let words = text.split { $0.isWhitespace || $0 == "," }.map { Substring(String($0)) }
        guard let date = Self.mailDate(words) ?? Self.internetDate(words) else { return nil }
        self = date
    }

    // MARK: RFC 2822

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    /// In hours (RFC 2822 §4.3).
    private static let zones: [String: Int64] = [
        "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    ]

    private static func mailDate(_ words: [Substring]) -> FeedDate? {
        // The name of the day is not checked.
        let words = words.first?.first?.isLetter == true ? words[1...] : words[...]
        guard words.count >= 3, let day = number(words[words.startIndex], 1...31),
            let month = months.firstIndex(of: words[words.startIndex + 1].prefix(3).lowercased()),
            let year = fullYear(words[words.startIndex + 2])
        else { return nil }
        let rest = words.dropFirst(3)
        guard let time = rest.first.map({ secondsOfDay($0) }) ?? 0 else { return nil }
        let offset = rest.dropFirst().first.map { zoneOffset($0) } ?? 0
        return FeedDate(CalendarDay(year: year, month: Int64(month) + 1, day: day), time, offset)
    }

    private static func fullYear(_ text: Substring) -> Int64? {
        if text.utf8.count == 4 { return number(text, 1970...9999) }
        guard text.utf8.count == 2, let short = number(text, 0...99) else { return nil }
        return short < 70 ? 2000 + short : 1900 + short
    }

    // MARK: RFC 3339

    private static func internetDate(_ words: [Substring]) -> FeedDate? {
        guard let first = words.first else { return nil }
        // A blank may take the place of the `T`.
        let parts =
            words.count > 1
            ? words : first.split(maxSplits: 1, whereSeparator: { $0 == "T" || $0 == "t" })
        let days = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard days.count == 3, let year = number(days[0], 1970...9999), let month = number(days[1], 1...12),
            let day = number(days[2], 1...31)
        else { return nil }
        let calendarDay = CalendarDay(year: year, month: month, day: day)
        guard parts.count > 1 else { return FeedDate(calendarDay, 0, 0) }
        let rest = Substring(parts[1...].joined())
        let end = rest.firstIndex { "Zz+-".contains($0) } ?? rest.endIndex
        guard let time = secondsOfDay(rest[..<end]) else { return nil }
        return FeedDate(calendarDay, time, zoneOffset(rest[end...]))
    }

    // MARK: Both

    private init(_ day: CalendarDay, _ secondsOfDay: Int64, _ offset: Int64) {
        self.init(seconds: day.daysSince1970 * 86_400 + secondsOfDay - offset, offset: offset)
    }

    /// Parses `08:05`, `08:05:30` or `08:05:30.25`; the fraction is dropped.
    private static func secondsOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hours = number(parts[0], 0...24),
            let minutes = number(parts[1], 0...59)
        else { return nil }
        let seconds = parts.count == 3 ? number(parts[2].prefix { $0 != "." }, 0...60) : 0
        return seconds.map { hours * 3_600 + minutes * 60 + $0 }
    }

    /// Parses `+0100`, `+01:00` or a name; 0 for anything else.
    private static func zoneOffset(_ text: Substring) -> Int64 {
        guard text.first == "+" || text.first == "-" else { return (zones[text.uppercased()] ?? 0) * 3_600 }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, let hours = number(digits.prefix(2), 0...23),
            let minutes = number(digits.suffix(2), 0...59)
        else { return 0 }
        return (hours * 3_600 + minutes * 60) * (text.first == "-" ? -1 : 1)
    }

    private static func number(_ text: some StringProtocol, _ allowed: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text)
        else { return nil }
        return allowed.contains(number) ? number : nil
    }
}

/// A day of the Gregorian calendar. Pure.
package struct CalendarDay: Sendable, Equatable {
    package var year: Int64
    /// From 1.
    package var month: Int64
    /// From 1.
    package var day: Int64

    package init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    // Years begin in March in both directions, so that the leap day comes last. From March to January, the lengths of
    // the months repeat every five months, which have 153 days; 400 years have 146,097.

    /// A day that does not exist, such as the 31st of a shorter month, counts as one of the next month.
    package var daysSince1970: Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = month > 2 ? month - 3 : month + 9
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }

    /// Years before 1 are not supported.
    package init(daysSince1970 days: Int64) {
        let days = days + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `2026-11-23`.
    var text: String { "\(year)-\(Self.padded(month))-\(Self.padded(day))" }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
