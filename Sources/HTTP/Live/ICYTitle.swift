internal import Media

/// The text between the bytes of a live stream: `StreamTitle='Artist - Title';StreamUrl='…';`.
enum ICYTitle {
    /// The title in `block`, which is padded with zeros; empty where the station says that there is none,
    /// nil where it says nothing of a title.
    ///
    /// Nobody escapes quotes, so the title goes up to the first `';` with the end or another `Name='`
    /// behind it: `It's a man's; world` is a title as any other.
    static func parse(_ block: [UInt8]) -> SafeText? {
        let text = block.prefix { $0 != 0 }
        guard let start = start(in: text) else { return nil }
        let rest = text[start...]
        var end = rest.endIndex
        for index in rest.indices where isEnd(rest[index...]) {
            end = index
            break
        }
        return SafeText(HeaderFields.trimmed(LegacyText.string(rest[..<end])))
    }

    /// Where the title begins, behind its opening quote.
    private static func start(in text: ArraySlice<UInt8>) -> Int? {
        let mark = Array("streamtitle='".utf8)
        return text.indices.first { index in
            text[index...].count >= mark.count
                && zip(text[index...], mark).allSatisfy { ($0 | 0x20) == $1 || $0 == $1 }
        }.map { $0 + mark.count }
    }

    /// Whether `rest` is the closing quote with all that follows it.
    private static func isEnd(_ rest: ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "'") else { return false }
        var behind = rest.dropFirst()
        // The last semicolon is left out by some, and cut off by others.
        guard !behind.isEmpty else { return true }
        guard behind.removeFirst() == UInt8(ascii: ";") else { return false }
        behind = behind.drop { $0 == UInt8(ascii: " ") }
        guard !behind.isEmpty else { return true }
        let name = behind.prefix { (0x61...0x7A).contains($0 | 0x20) }
        return !name.isEmpty && behind.dropFirst(name.count).starts(with: "='".utf8)
    }
}
