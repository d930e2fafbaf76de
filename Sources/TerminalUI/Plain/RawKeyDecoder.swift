/// Keys from a terminal's own bytes, where no terminal description is known: plain letters, control keys and
/// the few sequences that all terminals share.
package struct RawKeyDecoder: Sendable {
    package init() {}

    /// The keys of what one read gave. A sequence comes in one piece; a lone escape is the key.
    package mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        var rest = String(decoding: Array(bytes), as: UTF8.self).unicodeScalars[...]
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
            // The numbers before a letter say which of Shift, Alt and Control were held.
            let number = end == "~" ? String(parameters.prefix { $0 != ";" }) : ""
            if let key = Self.sequences[number + String(end)] { keys.append(key) }
        }
        return keys
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
        "1~": .home, "3~": .delete, "4~": .end, "5~": .pageUp, "6~": .pageDown,
    ]
}
