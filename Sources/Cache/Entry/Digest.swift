import CSodium

/// BLAKE2b, by libsodium's `crypto_generichash`.
enum Digest {
    /// BLAKE2b-256 of `text`, keyed where `key` is not empty.
    static func name(of text: String, key: [UInt8] = []) -> [UInt8] {
        hash(Array(text.utf8), size: 32, key: key)
    }

    /// BLAKE2b-128 of `bytes`: to find what a disk or a stranger changed.
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
