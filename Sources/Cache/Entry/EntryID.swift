/// The number of an entry: its row and the name of its file.
///
/// Random, so that it is never given twice, not even by an index that was rebuilt from nothing: a
/// store that is still open on the old entry can then never claim bytes in a new one's name.
struct EntryID: Hashable, Sendable {
    let value: Int64

    init(_ value: Int64) { self.value = value }

    /// A new number. Two alike in a folder of a million entries are as likely as one in ten million.
    static func random() -> EntryID { EntryID(Int64.random(in: 1...Int64.max)) }

    /// The name of the entry's file.
    var fileName: String { String(value) }

    /// The entry whose file is so named; nil for any name that the cache does not give.
    init?(fileName: String) {
        guard let value = Int64(fileName), value > 0, String(value) == fileName else { return nil }
        self.value = value
    }
}
