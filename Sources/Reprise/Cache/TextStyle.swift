import Glibc
import Media
import TerminalUI

/// What the place that text is written to can show.
struct TextStyle: Sendable, Equatable {
    /// Columns of the terminal; nil where there is none, and then nothing is cut.
    var columns: Int?
    var glyphs = Glyphs.unicode

    /// `text` as the terminal can show it; a file takes every letter.
    func shown(_ text: SafeText) -> SafeText {
        guard columns != nil, !glyphs.isUnicode else { return text }
        return SafeText(String(text.string.map { $0.isASCII ? $0 : "?" }))
    }
}

extension TextStyle {
    /// The style of what `descriptor` writes to, by its terminal and the locale of the process.
    init(descriptor: Int32) {
        // Only the character set: a decimal comma would change what other libraries parse.
        setlocale(LC_CTYPE, "")
        let isUnicode = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) == "UTF-8" } ?? false
        self.init(columns: Self.columns(of: descriptor), glyphs: isUnicode ? .unicode : .ascii)
    }

    /// 80 where a terminal does not tell.
    private static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
