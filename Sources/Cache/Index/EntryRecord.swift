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
    static let columns = """
        id, url, about, last_played, pinned, allocated, created, stored, prefix,
        (SELECT value FROM tags WHERE tags.entry = entries.id),
        EXISTS (SELECT 1 FROM streams WHERE streams.entry = entries.id)
        """

    let entry: EntryID
    let url: SafeText
    /// Without derived facts; see `FactsTable`.
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
    /// `true` if it is a recorded stream of segments.
    let isStream: Bool

    /// Reads the columns named by `columns`. The index may be damaged or tampered with: a record that fails
    /// its check counts as empty.
    init(_ row: borrowing SQLiteRow, protection: Protection) {
        entry = EntryID(row.integer(0))
        let record = protection.record(from: row.blob(2), in: .about, of: entry).flatMap {
            EntryRecord(bytes: $0)
        }
        url = record?.url ?? SafeText(row.optionalText(1) ?? "")
        var description = record?.description ?? EntryDescription()
        let tags = row.blob(9)
        if !tags.isEmpty, let list = protection.record(from: tags, in: .tags, of: entry),
            let values = ValueList(list[...])
        {
            description.tags = TrackTags(stored: values).filled(from: description.tags)
        }
        self.description = description
        lastPlayed = row.integer(3)
        isPinned = row.integer(4) != 0
        allocated = CacheIndex.plausible(row.integer(5))
        created = row.integer(6)
        storedBytes = CacheIndex.plausible(row.integer(7))
        prefix = CacheIndex.plausible(row.integer(8))
        isStream = row.integer(10) != 0
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

/// The index's description of an entry's resource, except derived facts and rare tags, as one value that can
/// be sealed.
struct EntryRecord: Sendable, Equatable {
    /// For display: without user name, password and query.
    var url: SafeText
    /// Without derived facts, which have a table of their own.
    var description: EntryDescription

    /// The form, and a list of ten values; read by `init(bytes:)`. Players of format 5 refuse any other
    /// number, so that whatever comes gets a place of its own.
    var bytes: [UInt8] {
        var values = ValueList()
        values.append(url.string)
        values.append(description.length.map { $0.bigEndianBytes })
        values.append(description.contentType)
        values.append(description.validators.etag)
        values.append(description.validators.lastModified)
        values.append(description.acceptsRanges.map { [$0 ? 1 : 0] })
        values.append(description.tags.title?.string)
        values.append(description.tags.artist?.string)
        values.append(description.durationSeconds.map { $0.bitPattern.bigEndianBytes })
        values.append(description.redirectedTo?.requestString)
        return [Self.form] + values.bytes
    }

    init(url: SafeText, description: EntryDescription) {
        self.url = url
        self.description = description
    }

    /// `nil` unless `bytes` are valid.
    init?(bytes: [UInt8]) {
        guard bytes.first == Self.form, let values = ValueList(bytes.dropFirst()), let url = values.text(0)
        else { return nil }
        var description = EntryDescription()
        description.length = values.number(1).flatMap { $0 >= 0 ? $0 : nil }
        description.contentType = values.text(2)
        description.validators = Validators(etag: values.text(3), lastModified: values.text(4))
        description.acceptsRanges = values[5].map { $0 == [1] }
        description.durationSeconds = values.number(8).map { Double(bitPattern: UInt64(bitPattern: $0)) }
            .flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        description.redirectedTo = values.text(9).flatMap { WebURL($0) }
        description.tags = TrackTags(
            title: values.text(6).map { SafeText($0) },
            artist: values.text(7).map { SafeText($0) }
        )
        self.init(url: SafeText(url), description: description)
    }

    private static let form: UInt8 = 1
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

    /// This description with its missing values taken from `other`; except derived facts.
    func completed(by other: EntryDescription) -> EntryDescription {
        var whole = self
        whole.length = length ?? other.length
        whole.contentType = contentType ?? other.contentType
        whole.redirectedTo = redirectedTo ?? other.redirectedTo
        whole.validators.etag = validators.etag ?? other.validators.etag
        whole.validators.lastModified = validators.lastModified ?? other.validators.lastModified
        whole.acceptsRanges = acceptsRanges ?? other.acceptsRanges
        whole.tags = tags.filled(from: other.tags)
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
