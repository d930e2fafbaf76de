/// Formats numbers of bytes in a few characters, everywhere in the same way.
package enum SizeText {
    /// Decimal units, as for networks and disks, rounded half up: `0 B`, `12 kB`, `3.4 MB`, `123 MB`.
    ///
    /// From megabytes on there is one decimal below `decimalsBelow` units. With 10 the text takes at most six
    /// columns, up to terabytes.
    package static func text(_ bytes: Int64, decimalsBelow limit: Int64 = 100) -> String {
        let bytes = max(0, bytes)
        if bytes < 1_000 { return "\(bytes) B" }
        var scale: Int64 = 1_000
        for unit in ["kB", "MB", "GB", "TB"] {
            let whole = rounded(bytes, to: scale)
            let tenths = rounded(bytes, to: scale / 10)
            if unit != "kB", tenths < limit * 10 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            // 999,999 bytes round to the next unit.
            if whole < 1_000 || unit == "TB" { return "\(whole) \(unit)" }
            scale *= 1_000
        }
        return ""
    }

    /// `1.9 of 10 GB`, `900 MB of 10 GB`: a unit that both have is written once.
    package static func text(_ bytes: Int64, of all: Int64) -> String {
        let part = text(bytes)
        let whole = text(all).replacing(".0 ", with: " ")
        let unit = part.split(separator: " ").last ?? ""
        return (whole.hasSuffix(" " + unit) ? String(part.dropLast(unit.count + 1)) : part) + " of " + whole
    }

    /// `1.2 MB/s`, of a rate in bytes.
    package static func rate(_ bytesPerSecond: Double, decimalsBelow limit: Int64 = 100) -> String {
        // A measured rate may be infinite.
        text(Int64(min(max(0, bytesPerSecond), 1e15)), decimalsBelow: limit) + "/s"
    }

    private static func rounded(_ bytes: Int64, to scale: Int64) -> Int64 {
        bytes / scale + (bytes % scale * 2 >= scale ? 1 : 0)
    }
}

/// Formats counts for display.
package enum CountText {
    /// `1 track`, `2 tracks`; `many` if the plural does not end in `s` alone.
    package static func of(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }

    /// `15 tracks`, or `15 tracks, 3 lists`.
    package static func tracks(_ count: Int, lists: Int) -> String {
        of(count, "track") + (lists > 0 ? ", " + of(lists, "list") : "")
    }
}
