package import Media

/// Formats numbers of bytes in a few characters.
enum ByteText {
    /// Decimal units, as for networks and disks: `0 B`, `12 kB`, `3.4 MB`.
    ///
    /// With `decimalsBelow: 10` the text takes at most six columns, up to terabytes.
    static func text(_ bytes: Int64, decimalsBelow limit: Int64 = 100) -> String {
        let bytes = max(0, bytes)
        if bytes < 1_000 { return "\(bytes) B" }
        var (unit, value) = ("kB", bytes)
        for next in ["MB", "GB", "TB"] where value >= 1_000_000 { (unit, value) = (next, value / 1_000) }
        // One decimal, rounded down, so that the displayed amount was really reached.
        let (whole, tenth) = (value / 1_000, value % 1_000 / 100)
        return unit == "kB" || whole >= limit ? "\(whole) \(unit)" : "\(whole).\(tenth) \(unit)"
    }
}

extension ByteText {
    /// `1.9 of 10 GB`, `900 MB of 10 GB`: a unit that both have is written once.
    static func text(_ bytes: Int64, of all: Int64) -> String {
        let (part, whole) = (text(bytes), text(all).replacing(".0 ", with: " "))
        let unit = part.split(separator: " ").last ?? ""
        return (whole.hasSuffix(" " + unit) ? String(part.dropLast(unit.count + 1)) : part) + " of " + whole
    }
}

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
