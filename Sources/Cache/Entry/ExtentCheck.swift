/// The bytes by which an extent is recognised, held without an allocation of their own: a BLAKE2b-128
/// digest of its bytes, or, where it is sealed, the nonce and the tag.
struct ExtentCheck: Hashable, Sendable {
    /// The 24 bytes that XChaCha20 takes, as three words.
    struct Nonce: Hashable, Sendable {
        let first: UInt64
        let second: UInt64
        let third: UInt64
    }

    /// Nil where the extent is not sealed.
    let nonce: Nonce?
    let high: UInt64
    let low: UInt64

    /// Nil unless there are 16 bytes, or the 40 of a sealed extent.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 || bytes.count == 40 else { return nil }
        let bytes = Array(bytes)
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        nonce = bytes.count == 40 ? Nonce(first: word(0), second: word(8), third: word(16)) : nil
        high = word(bytes.count - 16)
        low = word(bytes.count - 8)
    }

    var bytes: [UInt8] { nonceBytes + Self.bytes(of: [high, low]) }

    /// 24 bytes; empty where the extent is not sealed.
    var nonceBytes: [UInt8] { nonce.map { Self.bytes(of: [$0.first, $0.second, $0.third]) } ?? [] }

    /// The digest or the tag: 16 bytes.
    var tagBytes: [UInt8] { Self.bytes(of: [high, low]) }

    private static func bytes(of words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
