package import Media

/// Formats the time since a moment in a few characters.
package enum AgeText {
    /// `just now`, `1 min`, `47 hours`, `99 days`, `103 weeks`, `5 years`: whole units, rounded down. A
    /// future moment is `just now`.
    package static func text(seconds: Int64) -> SafeText {
        let minutes = Int(max(0, seconds) / 60)
        let hours = minutes / 60
        let days = hours / 24
        if minutes < 1 { return "just now" }
        if minutes < 60 { return SafeText("\(minutes) min") }
        if hours < 48 { return SafeText(CountText.of(hours, "hour")) }
        if days < 100 { return SafeText(CountText.of(days, "day")) }
        return SafeText(days < 730 ? CountText.of(days / 7, "week") : CountText.of(days / 365, "year"))
    }
}
