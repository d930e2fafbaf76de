import Media

/// Reads PLS: `FileN=`, `TitleN=` and `LengthN=` in any order, keys in any case.
///
/// Entries are in the order of their numbers. `NumberOfEntries` is not believed.
enum PLSParser {
    /// The entries of `bytes`; at most one more than `limit`, so that the caller sees the excess.
    static func entries(of bytes: ByteText, limit: Int) -> [PlaylistEntry] {
        var entries: [Int64: PlaylistEntry] = [:]
        bytes.withoutByteOrderMark.forEachLine { line in
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return }
            let key = line.piece(0..<equals).trimmed
            let value = line.piece(equals + 1..<line.count).trimmed
            guard let (field, number) = field(of: key), !value.isEmpty else { return }
            guard entries[number] != nil || entries.count <= limit else { return }
            var entry = entries[number] ?? PlaylistEntry(reference: "")
            switch field {
            case .file: entry.reference = LegacyText.string(value)
            case .title: entry.tags = M3UParser.tags(ofTitle: value)
            case .length: entry.duration = value.leadingSeconds
            }
            entries[number] = entry
        }
        return entries.filter { !$0.value.reference.isEmpty }.sorted { $0.key < $1.key }.map(\.value)
    }

    private enum Field {
        case file
        case title
        case length
    }

    /// Splits `File12` into its field and number; nil for every other key.
    private static func field(of key: ByteText) -> (Field, Int64)? {
        let field: Field
        let digits: ByteText
        if key.starts(withLowercase: "file") {
            (field, digits) = (.file, key.piece(4..<key.count))
        } else if key.starts(withLowercase: "title") {
            (field, digits) = (.title, key.piece(5..<key.count))
        } else if key.starts(withLowercase: "length") {
            (field, digits) = (.length, key.piece(6..<key.count))
        } else {
            return nil
        }
        // Nine digits are more entries than any list has, and cannot overflow.
        guard (1...9).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for byte in digits {
            guard let digit = byte.decimalDigit else { return nil }
            number = number * 10 + digit
        }
        return (field, number)
    }
}
