/// A strict check of the bytes that the player writes to a terminal.
enum TerminalBytes {
    /// The first part of `bytes` that is neither harmless text nor one of the screen's own sequences, with
    /// the text before it; `nil` if there is none.
    static func firstProblem(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return "bytes that are no UTF-8" }
        var rest = text.unicodeScalars[...]
        var before = ""
        func problem(_ what: String) -> String { "\(what) behind \(before.suffix(40).debugDescription)" }
        while let scalar = rest.popFirst() {
            before.unicodeScalars.append(scalar)
            if scalar == "\u{1B}" {
                guard let length = ownSequence(rest) else {
                    return problem("a sequence \(String(rest.prefix(12)).debugDescription)")
                }
                rest = rest.dropFirst(length)
            } else if isSteering(scalar) {
                return problem("a control \(scalar.value)")
            }
        }
        return nil
    }

    /// `true` if a character could control the terminal or the reading direction. Cursor movements and the
    /// switch to line drawing and back, which terminal descriptions use, cannot.
    static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x08, 0x09, 0x0A, 0x0D, 0x0E, 0x0F: false
        case 0x00..<0x20, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// `true` if a character could do more than show itself in lines of text.
    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        isSteering(scalar) || "\u{8}\t\n\r\u{E}\u{F}\u{2028}\u{2029}".unicodeScalars.contains(scalar)
    }

    /// The length of the sequence that continues with `text` after its escape; `nil` if it is not one of
    /// ours.
    private static func ownSequence(_ text: Substring.UnicodeScalarView) -> Int? {
        switch text.first {
        case "[":
            let parameters = text.dropFirst().prefix { "?0123456789;".unicodeScalars.contains($0) }
            let final = text.dropFirst(1 + parameters.count).first
            guard let final, "ABCDGHJKLMPSTXdfghlmrtnc@Z".unicodeScalars.contains(final) else { return nil }
            return String(parameters).contains("31337") ? nil : parameters.count + 2
        case "]":
            // Only the question for the background, and the window's title without control characters.
            if text.starts(with: "]11;?\u{1B}\\".unicodeScalars) { return 7 }
            let body = text.dropFirst().prefix { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            let end = text.dropFirst(1 + body.count).first
            return String(body).hasPrefix("2;") && end == "\u{07}" ? body.count + 2 : nil
        // Character sets, keypad, cursor, index.
        case "(", ")": return 2
        case "=", ">", "7", "8", "M", "D", "E": return 1
        default: return nil
        }
    }
}
