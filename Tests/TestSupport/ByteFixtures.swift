/// Bytes that look random and are the same every time.
package enum ByteFixtures {
    /// `count` bytes whose values follow from `seed` alone; a longer run begins with the shorter one.
    package static func bytes(count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                // Eight bytes of every number, for speed in debug builds.
                withUnsafeBytes(of: random.next().littleEndian) { word in
                    for byte in word.prefix(count - filled) {
                        buffer[filled] = byte
                        filled += 1
                    }
                }
            }
        }
    }
}
