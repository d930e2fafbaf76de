import Media

/// How a folder sees to it that what is read is what was kept: by checks, or by sealing.
enum Protection: Sendable {
    case checked
    case sealed(Seal)

    init(_ secret: CacheSecret?) {
        self = secret.map { .sealed(Seal($0)) } ?? .checked
    }

    /// What the folder's `seal` has to be; nil for none.
    var checkValue: [UInt8]? {
        switch self {
        case .checked: nil
        case .sealed(let seal): seal.checkValue
        }
    }

    /// The key of what is known by `text`: 32 bytes that tell nothing of it.
    func key(of text: String) -> [UInt8] {
        switch self {
        case .checked: Digest.name(of: text)
        case .sealed(let seal): Digest.name(of: text, key: seal.nameKey)
        }
    }

    /// What to write for `bytes`, as many, and the extent that vouches for them.
    func keep(_ bytes: [UInt8], at range: ByteRange, of entry: EntryID) -> (bytes: [UInt8], extent: Extent) {
        let kept: (bytes: [UInt8], check: [UInt8]) =
            switch self {
            case .checked: (bytes, Digest.check(of: bytes))
            case .sealed(let seal): seal.sealed(bytes, at: range, of: entry)
            }
        guard let check = ExtentCheck(bytes: kept.check) else {
            preconditionFailure("a check has one of two sizes")
        }
        return (kept.bytes, Extent(range: range, check: check))
    }

    /// The bytes of `extent` as they were kept; nil when `stored` is not what was written then.
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

    /// `record` as it goes into the index.
    func keep(_ record: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8] {
        switch self {
        case .checked: record + Digest.check(of: record + entry.value.bigEndianBytes)
        case .sealed(let seal): seal.sealedRecord(record, in: column, of: entry)
        }
    }

    /// The record that was put into the index; nil when it is not what it was.
    func record(from kept: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8]? {
        switch self {
        case .checked:
            let record = Array(kept.dropLast(16))
            let check = Digest.check(of: record + entry.value.bigEndianBytes)
            return kept.count >= 16 && Array(kept.suffix(16)) == check ? record : nil
        case .sealed(let seal): return seal.openedRecord(kept, in: column, of: entry)
        }
    }
}
