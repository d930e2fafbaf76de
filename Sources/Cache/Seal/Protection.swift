import Media

/// The way in which a folder detects that bytes were changed: by digests or by authenticated encryption.
enum Protection: Sendable {
    case checked
    case sealed(Seal)

    init(_ secret: CacheSecret?) {
        self = secret.map { .sealed(Seal($0)) } ?? .checked
    }

    /// The value that identifies the folder's secret; `nil` if it has none.
    var checkValue: [UInt8]? {
        switch self {
        case .checked: nil
        case .sealed(let seal): seal.checkValue
        }
    }

    /// A key of 32 bytes for `text`. The text cannot be recovered from it.
    func key(of text: String) -> [UInt8] {
        switch self {
        case .checked: Digest.name(of: text)
        case .sealed(let seal): Digest.name(of: text, key: seal.nameKey)
        }
    }

    /// Returns the bytes to write for `bytes`, which have the same count, and the extent that checks them.
    func keep(_ bytes: [UInt8], at range: ByteRange, of entry: EntryID) -> (bytes: [UInt8], extent: Extent) {
        let protected: (bytes: [UInt8], check: [UInt8]) =
            switch self {
            case .checked: (bytes, Digest.check(of: bytes))
            case .sealed(let seal): seal.sealed(bytes, at: range, of: entry)
            }
        guard let check = ExtentCheck(bytes: protected.check) else {
            preconditionFailure("a check has one of two sizes")
        }
        return (protected.bytes, Extent(range: range, check: check))
    }

    /// The bytes of `extent` before they were protected; `nil` if `stored` is not what was written.
    func bytes(of extent: Extent, from stored: [UInt8], of entry: EntryID) -> [UInt8]? {
        guard stored.count == extent.range.count else { return nil }
        switch self {
        case .checked:
            guard extent.check.nonce == nil, Digest.check(of: stored) == extent.check.bytes else {
                return nil
            }
            return stored
        case .sealed(let seal):
            return seal.opened(stored, check: extent.check, at: extent.range, of: entry)
        }
    }

    /// The column `kind` of `facts`: readable only in a folder that is not sealed.
    func kind(of fact: DerivedFact) -> [UInt8] {
        checkValue == nil ? Array(fact.rawValue.utf8) : key(of: "fact\0" + fact.rawValue)
    }

    /// `record` as it is written to the index.
    func keep(_ record: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8] {
        switch self {
        case .checked: record + Digest.check(of: record + entry.value.bigEndianBytes)
        case .sealed(let seal): seal.sealedRecord(record, in: column, of: entry)
        }
    }

    /// The record that was written to the index as `stored`; `nil` if it has changed.
    func record(from stored: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8]? {
        switch self {
        case .checked:
            let record = Array(stored.dropLast(16))
            let check = Digest.check(of: record + entry.value.bigEndianBytes)
            return stored.count >= 16 && Array(stored.suffix(16)) == check ? record : nil
        case .sealed(let seal): return seal.openedRecord(stored, in: column, of: entry)
        }
    }
}

/// The column of a record in the index. A record that was sealed for one column cannot be opened in another.
enum RecordColumn: Sendable {
    case about
    /// The column `value` of `tags`.
    case tags
    /// The column `display_url` of `names`.
    case name
    /// The column `value` of `facts`, in a row of this kind.
    case fact(DerivedFact)
    /// The column `about` of `parts`.
    case part
    /// The column `value` of `streams`.
    case stream
    /// The column `name` of `savings`.
    case host

    /// The text that is authenticated with a sealed record, together with its entry.
    var text: String {
        switch self {
        case .about: "about"
        case .tags: "tags"
        case .name: "name"
        case .fact(let fact): fact.rawValue
        case .part: "part"
        case .stream: "stream"
        case .host: "host"
        }
    }
}

/// The folder is not sealed with the given secret.
enum SealError: Error, CustomStringConvertible {
    case wrongSecret
    case secretMissing
    case notSealed

    var description: String {
        switch self {
        case .wrongSecret: "it is encrypted with another secret; use that one, or another folder"
        case .secretMissing: "it is encrypted; give its secret with --cache-secret, or use another folder"
        case .notSealed: "it is not encrypted; omit --cache-secret, or use another folder"
        }
    }
}
