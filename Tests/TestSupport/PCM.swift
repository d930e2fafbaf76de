/// Raw signed 16-bit little-endian audio.
package enum PCM {
    /// The samples of `bytes`; an odd byte at the end is dropped.
    package static func samples(_ bytes: [UInt8]) -> [Int16] {
        [Int16](unsafeUninitializedCapacity: bytes.count / 2) { buffer, count in
            // One copy: every machine that Swift runs on here is little-endian, as the format is.
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes.prefix(bytes.count / 2 * 2))
            count = bytes.count / 2
        }
    }

    /// The bytes of `samples`.
    package static func bytes(_ samples: [Int16]) -> [UInt8] { samples.withUnsafeBytes { Array($0) } }

    /// One channel of interleaved samples.
    package static func channel(_ index: Int, of samples: [Int16], channels: Int) -> [Int16] {
        stride(from: index, to: samples.count, by: channels).map { samples[$0] }
    }
}
