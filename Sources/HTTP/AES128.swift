import CCrypto
import Media
import System

/// Decrypts the segments of HLS whose method is `AES-128` (RFC 8216 §4.3.2.4), by libcrypto.
package enum AES128 {
    private static let library = OptionalLibrary { ccrypto_load().map { String(cString: $0) } }

    /// The length of a block, of a key and of an initialisation vector.
    package static let blockByteCount = 16

    /// Decrypts whole blocks in CBC mode; `vector` is the block before them. Padding stays.
    ///
    /// `key` and `vector` have 16 bytes, and `blocks` a multiple of them. Throws `.missingLibrary` if
    /// libcrypto can't be opened.
    package static func decrypt(
        _ blocks: ArraySlice<UInt8>,
        key: [UInt8],
        vector: [UInt8]
    ) async throws -> [UInt8] {
        precondition(blocks.count % blockByteCount == 0)
        precondition(key.count == blockByteCount && vector.count == blockByteCount)
        try await library.load("libcrypto", install: "libssl3 to play encrypted streams")
        guard !blocks.isEmpty else { return [] }
        let count = blocks.count
        return try [UInt8](unsafeUninitializedCapacity: count) { plain, written in
            let isDone = blocks.withUnsafeBufferPointer { cipher in
                ccrypto_decrypt(key, vector, cipher.baseAddress, Int32(count), plain.baseAddress)
            }
            guard isDone == 1 else {
                throw MediaError(.decodingFailed, "the stream", "libcrypto does not decrypt it – report this")
            }
            written = count
        }
    }
}
