import Media
import System

/// Parses PLS: `FileN=`, `TitleN=` and `LengthN=` in any order, keys in any case.
///
/// Takes `RefN=` too, the key of old ASX lists, which have the same form. Sorts the entries by their numbers
/// and ignores `NumberOfEntries`, which many writers get wrong.
enum PLSParser {
    /// Parses `bytes`; returns at most `limit` + 1 entries, the last of which shows the caller that the list
    /// is too long.
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
            case .file: entry.reference = FileName.text(value)
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

    private static let names: [(StaticString, Field)] = [
        ("file", .file), ("ref", .file), ("title", .title), ("length", .length),
    ]

    /// Splits a key such as `File12` into its field and number; returns `nil` for every other key.
    private static func field(of key: ByteText) -> (Field, Int64)? {
        guard let (name, field) = names.first(where: { key.starts(withLowercase: $0.0) }) else { return nil }
        // No list needs more than nine digits.
        let digits = key.dropFirst(name.utf8CodeUnitCount)
        guard digits.count <= 9, let number = Int64(digits: digits) else { return nil }
        return (field, number)
    }
}
