import CSodium

/// BLAKE2b, by libsodium's `crypto_generichash`.
enum Digest {
    /// The key of an entry: BLAKE2b-256, so that the index tells nobody a URL's secrets.
    static func key(of text: String) -> [UInt8] {
        hash(Array(text.utf8), size: 32)
    }

    /// The check of an extent: BLAKE2b-128, to find what a disk or a stranger changed.
    static func check(of bytes: [UInt8]) -> ExtentCheck {
        ExtentCheck(bytes: hash(bytes, size: 16)) ?? ExtentCheck(high: 0, low: 0)
    }

    private static func hash(_ bytes: [UInt8], size: Int) -> [UInt8] {
        Sodium.start()
        var digest = [UInt8](repeating: 0, count: size)
        let status = crypto_generichash(&digest, size, bytes, UInt64(bytes.count), nil, 0)
        precondition(status == 0, "the size of a digest is one that BLAKE2b has")
        return digest
    }
}
