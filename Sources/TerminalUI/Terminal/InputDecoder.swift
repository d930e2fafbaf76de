internal import CCurses
internal import Media

/// Decodes the codes that ncurses reads into events: keys, pasted text between its two marks, and mouse
/// reports.
///
/// Pure. Pasted text never runs keys, whatever it contains.
package struct InputDecoder {
    /// Our codes for the marks of bracketed paste, above those that ncurses uses.
    package static let pasteStart: Int32 = 0o1500
    package static let pasteEnd: Int32 = 0o1501
    /// Our codes for the beginning of a mouse report, in the decimal form (1006) and in the old one of three bytes.
    package static let mouseStart: Int32 = 0o1502
    package static let oldMouseStart: Int32 = 0o1503
    /// The longest paste; the rest is dropped, because no command line accepts it.
    static let longestPaste = CommandLine.longest
    /// The longest mouse report, longer than `255;65535;65535`.
    private static let longestReport = 20

    private enum Mode {
        case keys
        case paste(String.UnicodeScalarView)
        case mouse(String)
        /// Skips the remaining characters of a report in the old form.
        case skipping(Int)
    }

    private var mode = Mode.keys

    package init() {}

    /// Decodes a function key or a mark by its ncurses code.
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
        case Self.oldMouseStart: mode = .skipping(3)
        default: return Self.key(of: code).map { .key($0) }
        }
        return nil
    }

    /// Decodes a character; control characters are keys too.
    package mutating func character(_ scalar: Unicode.Scalar) -> UIEvent? {
        switch mode {
        case .keys: return Self.key(of: scalar).map { .key($0) }
        case .paste(var text):
            // Moved out before it is changed, so that a long paste is not copied for each character.
            mode = .keys
            if text.count < Self.longestPaste { text.append(scalar) }
            mode = .paste(text)
            return nil
        case .skipping(let count):
            mode = count > 1 ? .skipping(count - 1) : .keys
            return nil
        case .mouse(let report):
            return mouse(report, scalar)
        }
    }

    /// Decodes one more character of `button;column;rowM`, which ends with `m` if the button was released.
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

    /// Reports count from 1. Shift, Alt and Control (4, 8, 16) are ignored; a motion (32) is not a press.
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

/// Detects double presses. Pure: the caller passes the time.
package struct ClickCounter: Sendable {
    /// The longest time between the two presses, as on desktops.
    package static let longest = Duration.milliseconds(400)

    private var last: (column: Int, row: Int, at: Duration)?

    package init() {}

    /// The event itself, followed by a double press if it is the second press at its place.
    package mutating func events(for event: MouseEvent, at now: Duration) -> [MouseEvent] {
        guard event.kind == .press else {
            last = nil
            return [event]
        }
        if let last, last.column == event.column, last.row == event.row, now - last.at <= Self.longest {
            // A third press counts as a first one.
            self.last = nil
            return [event, MouseEvent(.doublePress, column: event.column, row: event.row)]
        }
        last = (event.column, event.row, now)
        return [event]
    }
}
