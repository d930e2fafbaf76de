import Glibc
import Media
import TerminalUI

/// The width and characters of a terminal or file.
struct TextStyle: Sendable, Equatable {
    /// Columns of the terminal; `nil` for a file, in which nothing is truncated.
    var columns: Int?
    var glyphs = Glyphs.unicode

    /// `text` with only those characters that the terminal can show; in a file, unchanged.
    func shown(_ text: SafeText) -> SafeText {
        guard columns != nil, !glyphs.isUnicode else { return text }
        return SafeText(String(text.string.map { $0.isASCII ? $0 : "?" }))
    }
}

extension TextStyle {
    /// The style of `descriptor`, from its terminal and the locale of the process.
    init(descriptor: Int32) {
        self.init(columns: Self.columns(of: descriptor), glyphs: .ofLocale())
    }

    /// 80 if the terminal does not report its size.
    private static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// Formats times of day and dates in local time; a time out of range is `-`.
enum CalendarTime {
    /// `03:15:42`.
    static func timeOfDay(secondsSince1970: Int64) -> String { text(secondsSince1970, "%H:%M:%S") }

    /// `2026-11-21 03:15`.
    static func text(secondsSince1970: Int64) -> String { text(secondsSince1970, "%Y-%m-%d %H:%M") }

    private static func text(_ secondsSince1970: Int64, _ format: String) -> String {
        var moment = time_t(secondsSince1970)
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "-" }
        var bytes = [CChar](repeating: 0, count: 64)
        let count = strftime(&bytes, bytes.count, format, &parts)
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
