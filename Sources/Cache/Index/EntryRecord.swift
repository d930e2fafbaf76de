import Media
import System

/// The number of an entry: its row in the index and the name of its file.
///
/// Random, so that no number is used twice, even after the index was rebuilt from scratch: a store that still
/// has the old entry open can never claim bytes of a new one.
typealias EntryID = CachedItem.ID

extension EntryID {
    /// A new number. In a folder of a million entries, the chance that any two are equal is below one in ten
    /// million.
    static func random() -> EntryID { EntryID(Int64.random(in: 1...Int64.max)) }

    /// The file name of the entry.
    var fileName: String { String(value) }

    /// The entry with this file name; `nil` if it is not the name of an entry's file.
    init?(fileName: String) {
        guard let value = Int64(fileName), value > 0, String(value) == fileName else { return nil }
        self.init(value)
    }
}

/// A row of `entries`.
struct EntryRow: Sendable {
    /// The columns that `init` reads, in its order.
    static let columns = "id, url, about, last_played, pinned, allocated, created, stored, prefix"

    let entry: EntryID
    let url: SafeText
    /// Without the seek table; see `EntriesTable.seekTable(of:)`.
    let description: EntryDescription
    /// Seconds since 1970.
    let lastPlayed: Int64
    let isPinned: Bool
    /// Bytes on the disk, as of the last commit.
    let allocated: Int64
    /// When the entry was created, in seconds since 1970.
    let created: Int64
    /// How many bytes are committed.
    let storedBytes: Int64
    /// How many bytes are committed from the start without a gap.
    let prefix: Int64

    /// Reads the columns named by `columns`. The index may be damaged or tampered with: a record that fails
    /// its check counts as empty.
    init(_ row: borrowing SQLiteRow, protection: Protection) {
        entry = EntryID(row.integer(0))
        let record = protection.record(from: row.blob(2), in: .about, of: entry).flatMap {
            EntryRecord(bytes: $0)
        }
        url = record?.url ?? SafeText(row.optionalText(1) ?? "")
        description = record?.description ?? EntryDescription()
        lastPlayed = row.integer(3)
        isPinned = row.integer(4) != 0
        allocated = CacheIndex.plausible(row.integer(5))
        created = row.integer(6)
        storedBytes = CacheIndex.plausible(row.integer(7))
        prefix = CacheIndex.plausible(row.integer(8))
    }

    /// `true` if the entry holds bytes of another version of the resource than `known`, which another store
    /// has committed since the index had the description `seen`.
    ///
    /// Two stores of an empty entry can get different responses. The first one to commit wins. If the index
    /// had a version already when a store opened the entry, the loader decides which one is valid.
    func isForeign(to known: EntryDescription, since seen: EntryDescription) -> Bool {
        storedBytes > 0 && description.contradicts(known) && description.isOtherVersion(than: seen)
    }
}

/// The index's description of an entry's resource, except the seek table, as one value that can be sealed.
struct EntryRecord: Sendable, Equatable {
    /// For display: without user name, password and query.
    var url: SafeText
    /// Without the seek table, which has a column of its own.
    var description: EntryDescription

    /// The fields in their order, each after its size; read by `init(bytes:)`.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.format]
        func put(_ field: [UInt8]?) {
            bytes += UInt32(field.map { $0.count } ?? Int(Self.absent)).bigEndianBytes
            bytes += field ?? []
        }
        put(Array(url.string.utf8))
        put(description.length.map { $0.bigEndianBytes })
        put(description.contentType.map { Array($0.utf8) })
        put(description.validators.etag.map { Array($0.utf8) })
        put(description.validators.lastModified.map { Array($0.utf8) })
        put(description.acceptsRanges.map { [$0 ? 1 : 0] })
        put(description.title.map { Array($0.utf8) })
        put(description.artist.map { Array($0.utf8) })
        put(description.durationSeconds.map { $0.bitPattern.bigEndianBytes })
        put(description.redirectedTo.map { Array($0.requestString.utf8) })
        return bytes
    }

    init(url: SafeText, description: EntryDescription) {
        self.url = url
        self.description = description
    }

    /// `nil` unless `bytes` are valid.
    init?(bytes: [UInt8]) {
        guard bytes.first == Self.format else { return nil }
        var rest = bytes.dropFirst()
        var fields: [[UInt8]?] = []
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let size = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(4)
            guard size != Self.absent else {
                fields.append(nil)
                continue
            }
            guard rest.count >= Int(size) else { return nil }
            fields.append(Array(rest.prefix(Int(size))))
            rest = rest.dropFirst(Int(size))
        }
        guard fields.count == 10, let url = fields[0] else { return nil }
        func text(_ index: Int) -> String? { fields[index].map { String(decoding: $0, as: UTF8.self) } }
        func number(_ index: Int) -> UInt64? {
            fields[index].flatMap { $0.count == 8 ? $0.reduce(0) { $0 << 8 | UInt64($1) } : nil }
        }
        var description = EntryDescription()
        description.length = number(1).flatMap { Int64(exactly: $0) }
        description.contentType = text(2)
        description.validators = Validators(etag: text(3), lastModified: text(4))
        description.acceptsRanges = fields[5].map { $0 == [1] }
        description.title = text(6)
        description.artist = text(7)
        description.durationSeconds = number(8).map { Double(bitPattern: $0) }
            .flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        description.redirectedTo = text(9).flatMap { WebURL($0) }
        self.init(url: SafeText(String(decoding: url, as: UTF8.self)), description: description)
    }

    private static let format: UInt8 = 1
    private static let absent = UInt32.max
}

extension EntryDescription {
    /// `true` if the two describe different versions of a resource. A value that one of them lacks is no
    /// contradiction (RFC 9110 §8.8).
    func contradicts(_ other: EntryDescription) -> Bool {
        func differ<Value: Equatable>(_ one: Value?, _ two: Value?) -> Bool {
            guard let one, let two else { return false }
            return one != two
        }
        return differ(length, other.length) || differ(validators.etag, other.validators.etag)
            || differ(validators.lastModified, other.validators.lastModified)
    }

    /// `true` if the length or a validator differs from that of `other`; `nil` differs from any value.
    func isOtherVersion(than other: EntryDescription) -> Bool {
        length != other.length || validators != other.validators
    }

    /// This description with its missing values taken from `other`; except the seek table.
    func completed(by other: EntryDescription) -> EntryDescription {
        var whole = self
        whole.length = length ?? other.length
        whole.contentType = contentType ?? other.contentType
        whole.redirectedTo = redirectedTo ?? other.redirectedTo
        whole.validators.etag = validators.etag ?? other.validators.etag
        whole.validators.lastModified = validators.lastModified ?? other.validators.lastModified
        whole.acceptsRanges = acceptsRanges ?? other.acceptsRanges
        whole.title = title ?? other.title
        whole.artist = artist ?? other.artist
        whole.durationSeconds = durationSeconds ?? other.durationSeconds
        return whole
    }

    /// The text that two copies of one resource share whatever their URLs: the strong entity tag and the
    /// length. `nil` if one of them is unknown.
    var identityText: String? {
        guard let etag = validators.etag, etag.hasPrefix("\""), etag.utf8.count > 2, let length, length > 0
        else { return nil }
        return "\(length) \(etag)"
    }
}
