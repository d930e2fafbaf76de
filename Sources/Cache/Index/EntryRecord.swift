import Media

/// What the index knows of an entry's resource besides its seek table, as the one value it is kept as.
struct EntryRecord: Sendable, Equatable {
    /// For people: without user name, password and query.
    var url: SafeText
    /// Without the seek table, which is kept by itself.
    var description: EntryDescription

    /// The fields in their order, each with its size in front; read by `init(bytes:)`.
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
        return bytes
    }

    init(url: SafeText, description: EntryDescription) {
        self.url = url
        self.description = description
    }

    /// Nil for bytes that `bytes` would never have made, down to the values.
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
        guard fields.count == 9, let url = fields[0] else { return nil }
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
        self.init(url: SafeText(String(decoding: url, as: UTF8.self)), description: description)
    }

    private static let format: UInt8 = 1
    private static let absent = UInt32.max
}

extension EntryDescription {
    /// Whether the two speak of different versions of a resource; what either does not tell contradicts
    /// nothing (RFC 9110 §8.8).
    func contradicts(_ other: EntryDescription) -> Bool {
        func differ<Value: Equatable>(_ one: Value?, _ two: Value?) -> Bool {
            guard let one, let two else { return false }
            return one != two
        }
        return differ(length, other.length) || differ(validators.etag, other.validators.etag)
            || differ(validators.lastModified, other.validators.lastModified)
    }

    /// Whether anything that tells versions apart is not as in `other`, known or not.
    func isOtherVersion(than other: EntryDescription) -> Bool {
        length != other.length || validators != other.validators
    }

    /// This, with what it does not tell taken from `other`; the seek table stays its own.
    func completed(by other: EntryDescription) -> EntryDescription {
        var whole = self
        whole.length = length ?? other.length
        whole.contentType = contentType ?? other.contentType
        whole.validators.etag = validators.etag ?? other.validators.etag
        whole.validators.lastModified = validators.lastModified ?? other.validators.lastModified
        whole.acceptsRanges = acceptsRanges ?? other.acceptsRanges
        whole.title = title ?? other.title
        whole.artist = artist ?? other.artist
        whole.durationSeconds = durationSeconds ?? other.durationSeconds
        return whole
    }

    /// What two entries of one resource have in common whatever their URLs: a strong entity tag and the
    /// length. Nil without either.
    var identityText: String? {
        guard let etag = validators.etag, etag.hasPrefix("\""), etag.utf8.count > 2, let length, length > 0
        else { return nil }
        return "\(length) \(etag)"
    }
}
