import CSodium
import Media

/// The keys of a sealed cache, derived from its secret, and what is done with them.
///
/// XChaCha20-Poly1305 with a fresh random nonce each time; its 24 bytes make a repetition as good as
/// impossible however many are drawn (doc.libsodium.org, "XChaCha20-Poly1305 construction").
struct Seal: Sendable {
    static let nonceSize = 24
    static let tagSize = 16

    private let extentKey: [UInt8]
    private let recordKey: [UInt8]
    /// For keyed hashes: without the secret nobody can try whether a URL is kept.
    let nameKey: [UInt8]
    /// Tells whether a folder was sealed with this secret, and tells nothing else of it.
    let checkValue: [UInt8]

    init(_ secret: CacheSecret) {
        Sodium.start()
        func key(_ number: UInt64) -> [UInt8] {
            var key = [UInt8](repeating: 0, count: CacheSecret.size)
            let status = crypto_kdf_derive_from_key(&key, key.count, number, "reprise1", secret.bytes)
            precondition(status == 0, "the size of a key is one that is derived")
            return key
        }
        extentKey = key(1)
        recordKey = key(2)
        nameKey = key(3)
        checkValue = key(4)
    }

    /// `bytes` sealed for their place: as many as before, and the nonce and tag that open them.
    func sealed(_ bytes: [UInt8], at range: ByteRange, of entry: EntryID) -> (bytes: [UInt8], check: [UInt8])
    {
        let place = Self.place(of: entry, range)
        var nonce = [UInt8](repeating: 0, count: Self.nonceSize)
        randombytes_buf(&nonce, nonce.count)
        var sealed = [UInt8](repeating: 0, count: bytes.count)
        var tag = [UInt8](repeating: 0, count: Self.tagSize)
        crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
            &sealed,
            &tag,
            nil,
            bytes,
            UInt64(bytes.count),
            place,
            UInt64(place.count),
            nil,
            nonce,
            extentKey
        )
        return (sealed, nonce + tag)
    }

    /// The bytes that were sealed; nil when anything of them, or of their place, is not as it was.
    func opened(_ sealed: [UInt8], check: ExtentCheck, at range: ByteRange, of entry: EntryID) -> [UInt8]? {
        guard check.nonce != nil else { return nil }
        let place = Self.place(of: entry, range)
        var bytes = [UInt8](repeating: 0, count: sealed.count)
        let status = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
            &bytes,
            nil,
            sealed,
            UInt64(sealed.count),
            check.tagBytes,
            place,
            UInt64(place.count),
            check.nonceBytes,
            extentKey
        )
        return status == 0 ? bytes : nil
    }

    /// A record of the index, sealed for its column: nonce, then what was sealed with its tag.
    func sealedRecord(_ record: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8] {
        let place = Self.place(of: entry, 0..<0) + column.name
        var nonce = [UInt8](repeating: 0, count: Self.nonceSize)
        randombytes_buf(&nonce, nonce.count)
        var sealed = [UInt8](repeating: 0, count: record.count + Self.tagSize)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed,
            nil,
            record,
            UInt64(record.count),
            place,
            UInt64(place.count),
            nil,
            nonce,
            recordKey
        )
        return nonce + sealed
    }

    /// The record that was sealed; nil when it is not what it was.
    func openedRecord(_ sealed: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8]? {
        guard sealed.count >= Self.nonceSize + Self.tagSize else { return nil }
        let place = Self.place(of: entry, 0..<0) + column.name
        let body = Array(sealed[Self.nonceSize...])
        var record = [UInt8](repeating: 0, count: body.count - Self.tagSize)
        let status = crypto_aead_xchacha20poly1305_ietf_decrypt(
            &record,
            nil,
            nil,
            body,
            UInt64(body.count),
            place,
            UInt64(place.count),
            Array(sealed[..<Self.nonceSize]),
            recordKey
        )
        return status == 0 ? record : nil
    }

    /// What is bound to the bytes without being among them: moved elsewhere, they cannot be opened.
    private static func place(of entry: EntryID, _ range: ByteRange) -> [UInt8] {
        [entry.value, range.lowerBound, range.upperBound].flatMap { $0.bigEndianBytes }
    }
}

extension FixedWidthInteger {
    /// The highest byte first.
    var bigEndianBytes: [UInt8] {
        withUnsafeBytes(of: bigEndian) { Array($0) }
    }
}
