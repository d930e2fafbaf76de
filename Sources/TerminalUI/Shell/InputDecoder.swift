internal import CCurses
internal import Media

/// Puts together what ncurses reads: keys, pasted text between its two marks, and the mouse's reports.
///
/// Pure: codes go in, events come out. Pasted text never fires keys, whatever it holds.
package struct InputDecoder {
    /// Codes that we give to the marks of bracketed paste; beyond those that ncurses uses.
    package static let pasteStart: Int32 = 0o1500
    package static let pasteEnd: Int32 = 0o1501
    /// What a mouse report begins with, in the decimal form (1006) and in the old one of three bytes.
    package static let mouseStart: Int32 = 0o1502
    package static let oldMouseStart: Int32 = 0o1503
    /// No more than a command line takes is kept of a paste.
    static let longestPaste = CommandLine.longest
    /// `255;65535;65535` and some.
    private static let longestReport = 20

    private enum Mode {
        case keys
        case paste(String.UnicodeScalarView)
        case mouse(String)
        /// So many characters still belong to a report that is not read.
        case passing(Int)
    }

    private var mode = Mode.keys

    package init() {}

    /// A key that ncurses names by a code of its own.
    package mutating func functionKey(_ code: Int32) -> UIEvent? {
        if case .paste(let text) = mode {
            guard code == Self.pasteEnd else { return nil }
            mode = .keys
            return .pasted(String(text))
        }
        mode = .keys
        switch code {
        case Self.pasteStart: mode = .paste(String.UnicodeScalarView())
        case Self.mouseStart: mode = .mouse("")
        case Self.oldMouseStart: mode = .passing(3)
        default: return Self.key(of: code).map { .key($0) }
        }
        return nil
    }

    /// A character as typed; control characters are keys too.
    package mutating func character(_ scalar: Unicode.Scalar) -> UIEvent? {
        switch mode {
        case .keys: return Self.key(of: scalar).map { .key($0) }
        case .paste(var text):
            // Taken out before it is changed, so that a long paste is not copied for each character.
            mode = .keys
            if text.count < Self.longestPaste { text.append(scalar) }
            mode = .paste(text)
            return nil
        case .passing(let count):
            mode = count > 1 ? .passing(count - 1) : .keys
            return nil
        case .mouse(let report):
            return mouse(report, scalar)
        }
    }

    /// One more character of `button;column;rowM`; the end is a small m when the button is let go.
    private mutating func mouse(_ report: String, _ scalar: Unicode.Scalar) -> UIEvent? {
        mode = .keys
        switch scalar {
        case "0"..."9", ";":
            if report.utf8.count < Self.longestReport { mode = .mouse(report + String(scalar)) }
            return nil
        case "M": return Self.press(report).map { .mouse($0) }
        default: return nil
        }
    }

    /// Counts from 1 there. Shift, Alt and Control (4, 8, 16) change nothing; a motion (32) is no press.
    private static func press(_ report: String) -> MouseEvent? {
        let numbers = report.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        let kind: MouseEvent.Kind
        switch numbers[0] & ~0b11100 {
        case 0: kind = .press
        case 64: kind = .wheelUp
        case 65: kind = .wheelDown
        default: return nil
        }
        return MouseEvent(kind, column: numbers[1] - 1, row: numbers[2] - 1)
    }

    static func key(of scalar: Unicode.Scalar) -> Key? {
        switch scalar.value {
        case 0x09: return .tab
        case 0x0A, 0x0D: return .enter
        case 0x1B: return .escape
        case 0x08, 0x7F: return .backspace
        case 0x01...0x1A:
            return Unicode.Scalar(scalar.value + 0x60).map { .control(Character($0)) }
        case 0x00..<0x20, 0x80..<0xA0: return nil
        default: return .character(Character(scalar))
        }
    }

    private static func key(of code: Int32) -> Key? {
        if (KEY_F0 + 1...KEY_F0 + 12).contains(code) { return .function(Int(code - KEY_F0)) }
        return functionKeys[code]
    }

    private static let functionKeys: [Int32: Key] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right,
        KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown, KEY_HOME: .home, KEY_END: .end,
        KEY_ENTER: .enter, KEY_BACKSPACE: .backspace, KEY_DC: .delete, KEY_BTAB: .backTab,
    ]
}
