import CSodium
import Media

/// Encryption with the keys of a sealed cache, which are derived from its secret.
///
/// XChaCha20-Poly1305 with a fresh random nonce each time: with 24 bytes, random nonces never repeat in
/// practice (doc.libsodium.org, "XChaCha20-Poly1305 construction").
struct Seal: Sendable {
    static let nonceSize = 24
    static let tagSize = 16

    private let extentKey: [UInt8]
    private let recordKey: [UInt8]
    /// The key for hashes of URLs: without the secret, nobody can test if a URL is cached.
    let nameKey: [UInt8]
    /// Identifies the secret, and reveals nothing else of it.
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

    /// Seals `bytes` for their place in the entry. Returns as many bytes, with the nonce and tag that open
    /// them.
    func sealed(_ bytes: [UInt8], at range: ByteRange, of entry: EntryID) -> (bytes: [UInt8], check: [UInt8])
    {
        let (nonce, sealed, tag) = Self.sealed(bytes, with: extentKey, for: Self.place(of: entry, range))
        return (sealed, nonce + tag)
    }

    /// The bytes that were sealed; `nil` if they, or their place, have changed.
    func opened(_ sealed: [UInt8], check: ExtentCheck, at range: ByteRange, of entry: EntryID) -> [UInt8]? {
        guard check.nonce != nil else { return nil }
        let place = Self.place(of: entry, range)
        return Self.opened(sealed, check.nonceBytes, check.tagBytes, with: extentKey, for: place)
    }

    /// A record of the index, sealed for its column: the nonce, then the ciphertext with its tag.
    func sealedRecord(_ record: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8] {
        let place = Self.place(of: entry, 0..<0) + Array(column.text.utf8)
        let (nonce, sealed, tag) = Self.sealed(record, with: recordKey, for: place)
        return nonce + sealed + tag
    }

    /// The record that was sealed; `nil` if it has changed.
    func openedRecord(_ sealed: [UInt8], in column: RecordColumn, of entry: EntryID) -> [UInt8]? {
        guard sealed.count >= Self.nonceSize + Self.tagSize else { return nil }
        let place = Self.place(of: entry, 0..<0) + Array(column.text.utf8)
        let nonce = Array(sealed.prefix(Self.nonceSize))
        let record = Array(sealed.dropFirst(Self.nonceSize).dropLast(Self.tagSize))
        return Self.opened(record, nonce, sealed.suffix(Self.tagSize), with: recordKey, for: place)
    }

    /// Seals `bytes` with a fresh nonce; they can only be opened for the same `place`.
    private static func sealed(
        _ bytes: [UInt8],
        with key: [UInt8],
        for place: [UInt8]
    ) -> (nonce: [UInt8], bytes: [UInt8], tag: [UInt8]) {
        var nonce = [UInt8](repeating: 0, count: nonceSize)
        randombytes_buf(&nonce, nonce.count)
        var sealed = [UInt8](repeating: 0, count: bytes.count)
        var tag = [UInt8](repeating: 0, count: tagSize)
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
            key
        )
        return (nonce, sealed, tag)
    }

    private static func opened(
        _ sealed: [UInt8],
        _ nonce: [UInt8],
        _ tag: some Sequence<UInt8>,
        with key: [UInt8],
        for place: [UInt8]
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: sealed.count)
        let status = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
            &bytes,
            nil,
            sealed,
            UInt64(sealed.count),
            Array(tag),
            place,
            UInt64(place.count),
            nonce,
            key
        )
        return status == 0 ? bytes : nil
    }

    /// The additional authenticated data of an extent, which prevents opening bytes that were moved
    /// elsewhere.
    private static func place(of entry: EntryID, _ range: ByteRange) -> [UInt8] {
        [entry.value, range.lowerBound, range.upperBound].flatMap { $0.bigEndianBytes }
    }
}

/// BLAKE2b, by libsodium's `crypto_generichash`.
enum Digest {
    /// BLAKE2b-256 of `text`, keyed unless `key` is empty.
    static func name(of text: String, key: [UInt8] = []) -> [UInt8] {
        hash(Array(text.utf8), size: 32, key: key)
    }

    /// BLAKE2b-128 of `bytes`, to detect changes by a faulty disk or another program.
    static func check(of bytes: [UInt8]) -> [UInt8] {
        hash(bytes, size: 16, key: [])
    }

    private static func hash(_ bytes: [UInt8], size: Int, key: [UInt8]) -> [UInt8] {
        Sodium.start()
        var digest = [UInt8](repeating: 0, count: size)
        let status = crypto_generichash(
            &digest,
            size,
            bytes,
            UInt64(bytes.count),
            key.isEmpty ? nil : key,
            key.count
        )
        precondition(status == 0, "the size of a digest is one that BLAKE2b has")
        return digest
    }
}

/// libsodium, initialised.
enum Sodium {
    private static let isReady = sodium_init() >= 0

    /// Must come before any other call of libsodium; only the first call does something.
    static func start() {
        precondition(isReady, "libsodium cannot start")
    }
}
