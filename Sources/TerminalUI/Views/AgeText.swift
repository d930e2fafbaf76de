package import Media

/// How long ago a moment was, in a few letters: pure.
package enum AgeText {
    /// `0m`, `59m`, `47h`, `99d`, `103w`, `5y`: whole units, rounded down. A moment to come is `0m`.
    package static func text(seconds: Int64) -> SafeText {
        let minutes = max(0, seconds) / 60
        let hours = minutes / 60
        let days = hours / 24
        if minutes < 60 { return SafeText("\(minutes)m") }
        if hours < 48 { return SafeText("\(hours)h") }
        if days < 100 { return SafeText("\(days)d") }
        return SafeText(days < 730 ? "\(days / 7)w" : "\(days / 365)y")
    }
}
