/// Decodes a terminal's bytes into events without a terminal description: letters, control keys, the few
/// sequences that all terminals share, and pasted text between its two marks.
///
/// Pure. Pasted text never runs keys, whatever it contains.
package struct RawKeyDecoder: Sendable {
    private static let pasteStart = Array("\u{1B}[200~".utf8)
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// The text pasted so far; `nil` outside of a paste.
    private var paste: [UInt8]?
    /// The beginning of an incomplete mark.
    private var held: [UInt8] = []

    package init() {}

    /// The events in the bytes of one read.
    ///
    /// The sequence of a key arrives in one read, so a lone escape is the Escape key; a paste may take
    /// several reads.
    package mutating func events(_ bytes: some Sequence<UInt8>) -> [UIEvent] {
        var rest = (held + bytes)[...]
        held = []
        var events: [UIEvent] = []
        while !rest.isEmpty {
            if paste != nil {
                takePaste(&rest, &events)
                continue
            }
            guard let start = Self.position(of: Self.pasteStart, in: rest) else {
                let begun = Self.beginning(of: Self.pasteStart, from: 2, endingIn: rest)
                held = Array(rest.suffix(begun))
                events += Self.keys(rest.dropLast(begun)).map { .key($0) }
                break
            }
            events += Self.keys(rest[..<start]).map { .key($0) }
            rest = rest[(start + Self.pasteStart.count)...]
            paste = []
        }
        return events
    }

    /// Reads pasted text from `rest`, up to its end mark or the last byte.
    private mutating func takePaste(_ rest: inout ArraySlice<UInt8>, _ events: inout [UIEvent]) {
        let end = Self.position(of: Self.pasteEnd, in: rest)
        let begun = end == nil ? Self.beginning(of: Self.pasteEnd, from: 1, endingIn: rest) : 0
        let text = end.map { rest[..<$0] } ?? rest.dropLast(begun)
        let room = InputDecoder.longestPaste - (paste?.count ?? 0)
        paste?.append(contentsOf: text.prefix(max(0, room)))
        if let end {
            events.append(.pasted(String(decoding: paste ?? [], as: UTF8.self)))
            paste = nil
            rest = rest[(end + Self.pasteEnd.count)...]
        } else {
            held = Array(rest.suffix(begun))
            rest = []
        }
    }

    private static func position(of mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
    }

    /// The number of bytes at the end of `bytes` that may begin `mark`; 0 if fewer than `shortest`, since
    /// outside of a paste a lone escape is a key.
    private static func beginning(
        of mark: [UInt8],
        from shortest: Int,
        endingIn bytes: ArraySlice<UInt8>
    ) -> Int {
        (shortest..<mark.count).reversed().first {
            bytes.count >= $0 && bytes.suffix($0).elementsEqual(mark.prefix($0))
        } ?? 0
    }

    private static func keys(_ bytes: ArraySlice<UInt8>) -> [Key] {
        var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        var keys: [Key] = []
        while let scalar = rest.popFirst() {
            guard scalar == "\u{1B}", let opening = rest.first, opening == "[" || opening == "O" else {
                if let key = InputDecoder.key(of: scalar) { keys.append(key) }
                continue
            }
            rest.removeFirst()
            let parameters = rest.prefix { ("0"..."9").contains($0) || $0 == ";" }
            rest = rest.dropFirst(parameters.count)
            guard let end = rest.popFirst() else { break }
            // Numbers before a letter are the modifiers Shift, Alt and Control.
            let number = end == "~" ? String(parameters.prefix { $0 != ";" }) : ""
            if let key = sequences[number + String(end)] { keys.append(key) }
        }
        return keys
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
        "1~": .home, "3~": .delete, "4~": .end, "5~": .pageUp, "6~": .pageDown,
    ]
}
