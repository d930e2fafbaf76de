/// Decodes a terminal's bytes into events: keys, pasted text between its two marks, and mouse reports.
///
/// Pure. Knows the sequences that terminals share, so it needs no terminal description. Pasted text never
/// runs keys, whatever it contains.
package struct KeyDecoder: Sendable {
    /// The longest paste in bytes, more than any list of sources that is pasted on purpose; the rest is
    /// dropped.
    private static let longestPaste = 1 << 20
    /// More bytes than any sequence of a key or of the mouse has.
    private static let longestSequence = 32
    /// More bytes than the report of a colour or of a terminal's name and version has.
    private static let longestReport = 256
    private static let escape: UInt8 = 0x1B
    private static let bell: UInt8 = 0x07
    private static let pasteStart = Array("\u{1B}[200~".utf8)
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// The text pasted so far; `nil` outside of a paste.
    private var paste: [UInt8]?
    /// The bytes of an incomplete sequence or character.
    private var held: [UInt8] = []
    /// `true` from a question to the terminal until it has reported its attributes.
    package var awaitsReply = false
    /// `true` if the last byte was an escape that became a key, but may begin a slow reply.
    private var hasFlushedEscape = false

    /// `true` if the last bytes begin a sequence. If no more follow soon, call `flush`. `false` for a part of
    /// a terminal's report, whose rest may come at any time.
    package var isIncomplete: Bool { !held.isEmpty && paste == nil && !isReport(held[...]) }

    /// The events that the next bytes complete.
    package mutating func events(_ bytes: some Sequence<UInt8>) -> [UIEvent] {
        var rest = (held + bytes)[...]
        if hasFlushedEscape, let first = rest.first, "[]P_^X".utf8.contains(first) {
            rest.insert(Self.escape, at: rest.startIndex)
        }
        hasFlushedEscape = false
        var events: [UIEvent] = []
        // Alt sends its escape together with the key. What comes later was pressed after Escape.
        if paste == nil, held == [Self.escape], let next = rest.dropFirst().first,
            !"[O]".utf8.contains(next), !isReport(rest)
        {
            events.append(.key(.escape))
            rest = rest.dropFirst()
        }
        while !rest.isEmpty, let count = decode(rest, &events) { rest = rest.dropFirst(count) }
        held = Array(rest)
        return events
    }

    /// Ends an incomplete sequence: an escape without more is the Escape key; anything else is dropped.
    package mutating func flush() -> [UIEvent] {
        defer { held = [] }
        hasFlushedEscape = awaitsReply && held == [Self.escape]
        return held.allSatisfy { $0 == Self.escape } ? held.map { _ in .key(.escape) } : []
    }

    /// Decodes the beginning of `bytes` and returns the number of bytes it takes; `nil` if more are needed.
    private mutating func decode(_ bytes: ArraySlice<UInt8>, _ events: inout [UIEvent]) -> Int? {
        if paste != nil { return decodePaste(bytes, &events) }
        guard bytes.first == Self.escape else { return Self.decodeCharacter(bytes, &events) }
        guard let opening = bytes.dropFirst().first else { return nil }
        if opening == UInt8(ascii: "]") || isReport(bytes), opening != UInt8(ascii: "[") {
            return decodeReport(bytes, &events)
        }
        guard opening == UInt8(ascii: "[") || opening == UInt8(ascii: "O") else {
            return decodeAlt(bytes, &events)
        }
        if bytes.starts(with: Self.pasteStart) {
            paste = []
            return Self.pasteStart.count
        }
        let body = bytes.dropFirst(2)
        let parameters = body.prefix { (0x20..<0x40).contains($0) }
        guard parameters.count <= Self.longestSequence else { return 2 + parameters.count }
        guard let end = body.dropFirst(parameters.count).first else { return nil }
        let count = 2 + parameters.count + 1
        let text = String(decoding: parameters, as: UTF8.self)
        switch (text, end) {
        // A mouse report in the old form, with three bytes of any value, which are skipped.
        case ("", UInt8(ascii: "M")) where opening == UInt8(ascii: "["):
            return bytes.count < count + 3 ? nil : count + 3
        // A function key of the Linux console.
        case ("", UInt8(ascii: "[")):
            guard let letter = body.dropFirst().first else { return nil }
            events += Self.key("[", letter)
            return count + 1
        // The device attributes, which end the wait for other reports.
        case (_, UInt8(ascii: "c")) where text.hasPrefix("?"): awaitsReply = false
        case (_, UInt8(ascii: "M")) where text.hasPrefix("<"):
            events += Self.mouse(text.dropFirst()).map { [.mouse($0)] } ?? []
        case (_, UInt8(ascii: "m")) where text.hasPrefix("<"):
            events += Self.mouse(text.dropFirst(), isRelease: true).map { [.mouse($0)] } ?? []
        // The numbers before a letter are the modifiers Shift, Alt and Control.
        default: events += Self.key(end == UInt8(ascii: "~") ? text.prefix { $0 != ";" } : "", end)
        }
        return count
    }

    /// Decodes a key that was pressed with Alt, which terminals send as an escape before the key's own bytes.
    /// It has no meaning here, and must not run as Escape and the key.
    private mutating func decodeAlt(_ bytes: ArraySlice<UInt8>, _ events: inout [UIEvent]) -> Int? {
        let key = bytes.dropFirst()
        // It may begin a reply, of which one more byte is needed to know.
        if key.count == 1, let opening = key.first, "P_^X".utf8.contains(opening) { return nil }
        if key.first == Self.escape {
            guard let next = key.dropFirst().first else { return nil }
            guard next == UInt8(ascii: "[") || next == UInt8(ascii: "O") else {
                events.append(.key(.escape))
                return 1
            }
        }
        var ignored: [UIEvent] = []
        return decode(key, &ignored).map { $0 + 1 }
    }

    /// `true` if `bytes` begin like a report of the terminal, and not like a key, or two keys: DA1, OSC, DCS
    /// (as XTVERSION, XTGETTCAP and DECRQSS), or kitty's APC. No terminal is known to send PM, SOS or other
    /// forms of DCS and APC; they count if their end is there or a reply is awaited.
    private func isReport(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == Self.escape, let opening = bytes.dropFirst().first else { return false }
        guard let next = bytes.dropFirst(2).first else {
            return awaitsReply && "[]P_^X".utf8.contains(opening)
        }
        return switch opening {
        case UInt8(ascii: "["): next == UInt8(ascii: "?")
        case UInt8(ascii: "]"): (0x30..<0x3A).contains(next)
        case UInt8(ascii: "P") where (0x30..<0x3A).contains(next) || ">!$".utf8.contains(next): true
        case UInt8(ascii: "_") where next == UInt8(ascii: "G"): true
        default:
            "P_^X".utf8.contains(opening)
                && (awaitsReply
                    || bytes.dropFirst(2).drop { $0 != Self.escape }.dropFirst().first == UInt8(ascii: "\\"))
        }
    }

    /// Decodes a report (OSC, DCS, APC, PM or SOS), which ends with BEL or ESC `\`. Reports other than that
    /// of the background are dropped; bytes that cannot belong to a report are decoded as keys.
    private func decodeReport(_ bytes: ArraySlice<UInt8>, _ events: inout [UIEvent]) -> Int? {
        let body = bytes.dropFirst(2).prefix { (0x20..<0x7F).contains($0) }
        guard bytes.count > 2 else { return nil }
        guard isReport(bytes), body.count <= Self.longestReport else {
            return isReport(bytes) ? 2 + body.count : 2
        }
        let end = bytes[body.endIndex...]
        guard let first = end.first else { return nil }
        var length = 1
        if first == Self.escape {
            guard let second = end.dropFirst().first else { return nil }
            length = second == UInt8(ascii: "\\") ? 2 : 0
        } else if first != Self.bell {
            length = 0
        }
        let text = String(decoding: body, as: UTF8.self)
        if length > 0, bytes.starts(with: "\u{1B}]11;".utf8),
            let color = ScreenColor(parsing: text.dropFirst(3))
        {
            events.append(.background(color))
        }
        return 2 + body.count + length
    }

    /// Decodes pasted text, up to its end mark or the last byte that cannot belong to the mark.
    private mutating func decodePaste(_ bytes: ArraySlice<UInt8>, _ events: inout [UIEvent]) -> Int? {
        let mark = bytes.indices.first {
            bytes[$0] == Self.escape && Self.pasteEnd.starts(with: bytes[$0...].prefix(Self.pasteEnd.count))
        }
        let text = bytes[..<(mark ?? bytes.endIndex)]
        let room = Self.longestPaste - (paste?.count ?? 0)
        paste?.append(contentsOf: text.prefix(max(0, room)))
        guard let mark, bytes[mark...].count >= Self.pasteEnd.count else {
            return text.isEmpty ? nil : text.count
        }
        events.append(.pasted(String(decoding: paste ?? [], as: UTF8.self)))
        paste = nil
        return text.count + Self.pasteEnd.count
    }

    private static func decodeCharacter(_ bytes: ArraySlice<UInt8>, _ events: inout [UIEvent]) -> Int? {
        let count = bytes.first.map { $0 < 0xC0 ? 1 : $0 < 0xE0 ? 2 : $0 < 0xF0 ? 3 : 4 } ?? 1
        guard bytes.count >= count else { return nil }
        for scalar in String(decoding: bytes.prefix(count), as: UTF8.self).unicodeScalars {
            if let key = key(of: scalar) { events.append(.key(key)) }
        }
        return count
    }

    private static func key(of scalar: Unicode.Scalar) -> Key? {
        switch scalar.value {
        case 0x09: .tab
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .backspace
        case 0x01...0x1A: Unicode.Scalar(scalar.value + 0x60).map { .control(Character($0)) }
        case 0x00..<0x20, 0x80..<0xA0: nil
        default: .character(Character(scalar))
        }
    }

    private static func key(_ number: some StringProtocol, _ end: UInt8) -> [UIEvent] {
        sequences[number + String(UnicodeScalar(end))].map { [.key($0)] } ?? []
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
        "1~": .home, "3~": .delete, "4~": .end, "5~": .pageUp, "6~": .pageDown, "7~": .home, "8~": .end,
        "P": .function(1), "Q": .function(2), "R": .function(3), "S": .function(4),
        "[A": .function(1), "[B": .function(2), "[C": .function(3), "[D": .function(4), "[E": .function(5),
        "11~": .function(1), "12~": .function(2), "13~": .function(3), "14~": .function(4),
        "15~": .function(5), "17~": .function(6), "18~": .function(7), "19~": .function(8),
        "20~": .function(9), "21~": .function(10), "23~": .function(11), "24~": .function(12),
    ]

    /// Decodes `button;column;row`, which count from 1. Shift, Alt and Control (4, 8, 16) are ignored; 32 is
    /// added for a motion.
    private static func mouse(_ report: Substring, isRelease: Bool = false) -> MouseEvent? {
        let numbers = report.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        let kind: MouseEvent.Kind
        switch numbers[0] & ~0b11100 {
        case 0: kind = isRelease ? .release : .press
        case 32 where !isRelease: kind = .drag
        case 64 where !isRelease: kind = .wheelUp
        case 65 where !isRelease: kind = .wheelDown
        default: return nil
        }
        return MouseEvent(kind, column: numbers[1] - 1, row: numbers[2] - 1)
    }
}
