package import Media

/// Formats the time since a moment in a few characters.
package enum AgeText {
    /// `just now`, `59m`, `47h`, `99d`, `103w`, `5y`: whole units, rounded down. A future moment is
    /// `just now`.
    package static func text(seconds: Int64) -> SafeText {
        let minutes = max(0, seconds) / 60
        let hours = minutes / 60
        let days = hours / 24
        if minutes < 1 { return "just now" }
        if minutes < 60 { return SafeText("\(minutes)m") }
        if hours < 48 { return SafeText("\(hours)h") }
        if days < 100 { return SafeText("\(days)d") }
        return SafeText(days < 730 ? "\(days / 7)w" : "\(days / 365)y")
    }
}
