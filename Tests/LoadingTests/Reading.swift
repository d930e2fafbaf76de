import Media
import TestSupport

/// The bytes of a file, the same every time.
func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] { ByteFixtures.bytes(count: count, seed: seed) }

/// Reads `source` from its first byte to its end, `count` bytes at a time.
func readAll(_ source: any ByteSource, count: Int = 20_000) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
        let more = try await source.read(at: Int64(bytes.count), count: count)
        if more.isEmpty { return bytes }
        bytes += more
    }
}
