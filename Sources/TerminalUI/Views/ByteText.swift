/// Numbers of bytes as a listener reads them.
enum ByteText {
    /// Decimal units, as networks and discs are sold: `0 B`, `12 kB`, `3.4 MB`.
    ///
    /// With `decimalsBelow: 10` it takes six columns at most, up to terabytes.
    static func text(_ bytes: Int64, decimalsBelow limit: Int64 = 100) -> String {
        let bytes = max(0, bytes)
        if bytes < 1_000 { return "\(bytes) B" }
        var (unit, value) = ("kB", bytes)
        for next in ["MB", "GB", "TB"] where value >= 1_000_000 { (unit, value) = (next, value / 1_000) }
        // One decimal, dropped, so that what is shown was really reached.
        let (whole, tenth) = (value / 1_000, value % 1_000 / 100)
        return unit == "kB" || whole >= limit ? "\(whole) \(unit)" : "\(whole).\(tenth) \(unit)"
    }
}
