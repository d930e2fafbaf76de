import Glibc

/// Moments as people read them.
enum CalendarTime {
    /// `03:15:42` in local time; `-` for a moment that no calendar has.
    static func timeOfDay(secondsSince1970: Int64) -> String {
        var moment = time_t(secondsSince1970)
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "-" }
        return "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
    }

    private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// `2026-11-21 03:15` in local time; `-` for a moment that no calendar has.
    static func text(secondsSince1970: Int64) -> String {
        var moment = time_t(secondsSince1970)
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "-" }
        return "\(Int64(parts.tm_year) + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday)) "
            + "\(padded(parts.tm_hour)):\(padded(parts.tm_min))"
    }
}
