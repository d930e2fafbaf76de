internal import CCurses
internal import Media

/// Puts together what ncurses reads: keys, and pasted text between its two marks.
///
/// Pure: codes go in, events come out. Pasted text never fires keys, whatever it holds.
package struct InputDecoder {
    /// Codes that we give to the marks of bracketed paste; beyond those that ncurses uses.
    package static let pasteStart: Int32 = 0o1500
    package static let pasteEnd: Int32 = 0o1501
    /// No more than a command line takes is kept of a paste.
    static let longestPaste = CommandLine.longest

    private var pasted: String.UnicodeScalarView?

    package init() {}

    /// A key that ncurses names by a code of its own.
    package mutating func functionKey(_ code: Int32) -> UIEvent? {
        if code == Self.pasteStart {
            pasted = String.UnicodeScalarView()
            return nil
        }
        if code == Self.pasteEnd {
            defer { pasted = nil }
            return pasted.map { .pasted(SafeText(String($0))) }
        }
        guard pasted == nil, let key = Self.functionKeys[code] else { return nil }
        return .key(key)
    }

    /// A character as typed; control characters are keys too.
    package mutating func character(_ scalar: Unicode.Scalar) -> UIEvent? {
        if let text = pasted {
            if text.count < Self.longestPaste { pasted?.append(scalar) }
            return nil
        }
        switch scalar.value {
        case 0x0A, 0x0D: return .key(.enter)
        case 0x1B: return .key(.escape)
        case 0x08, 0x7F: return .key(.backspace)
        case 0x01...0x1A:
            return Unicode.Scalar(scalar.value + 0x60).map { .key(.control(Character($0))) }
        case 0x00..<0x20, 0x80..<0xA0: return nil
        default: return .key(.character(Character(scalar)))
        }
    }

    private static let functionKeys: [Int32: Key] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right,
        KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown, KEY_HOME: .home, KEY_END: .end,
        KEY_ENTER: .enter, KEY_BACKSPACE: .backspace, KEY_DC: .delete,
    ]
}
