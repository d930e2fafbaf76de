/// The gzip format (RFC 1952), without any saving: all blocks are stored ones (RFC 1951 §3.2.4).
enum Gzip {
    private static let mostPerBlock = 65_535

    /// `bytes` as one gzip member.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        // Magic, deflate, no flags, no time, no extra flags, unknown system.
        var result: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var offset = 0
        repeat {
            let count = min(mostPerBlock, bytes.count - offset)
            let isLast = offset + count == bytes.count
            result += [isLast ? 1 : 0] + little(UInt32(count)).prefix(2) + little(~UInt32(count)).prefix(2)
            result += bytes[offset..<offset + count]
            offset += count
        } while offset < bytes.count
        return result + little(checksum(of: bytes)) + little(UInt32(truncatingIfNeeded: bytes.count))
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// CRC-32 (RFC 1952 §8).
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
        }
    }
}
