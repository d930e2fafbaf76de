import Foundation
import Media
import System
import Testing

@testable import Cache

/// A folder that is removed together with the object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The cache folder itself, which the cache creates.
    var cache: String { path + "/cache" }

    /// The path of a file in the cache folder.
    func file(_ name: String) -> String { cache + "/" + name }

    /// The names in `objects`.
    var objects: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: file("objects")).sorted() }
    }

    /// The bytes that the files in `objects` take on the disk.
    var allocated: Int64 {
        ((try? objects) ?? []).reduce(0) { sum, name in
            var status = stat()
            return stat(file("objects/\(name)"), &status) == 0 ? sum + Int64(status.st_blocks) * 512 : sum
        }
    }

    /// How long a file in the cache folder is.
    func length(of name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file(name))[.size] as? Int ?? -1
    }

    /// The permission bits of a file.
    func permissions(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}

/// A time of day that advances by a second with each reading.
final class TickingWallClock: Sendable {
    private let seconds = Locked<Int64>(1_000)

    func tick() -> Int64 {
        seconds.withLock {
            $0 += 1
            return $0
        }
    }
}

/// A URL that stands for a resource of its own.
func url(_ name: String) throws -> WebURL {
    try #require(WebURL("http://radio.example/\(name)"))
}

/// Bytes that differ everywhere and are the same every time.
func pattern(_ range: ByteRange, salt: UInt64 = 0) -> [UInt8] {
    range.map { offset in
        let mixed = (UInt64(offset) &+ salt &* 977 &+ 1) &* 0x9E37_79B9_7F4A_7C15
        return UInt8(truncatingIfNeeded: mixed >> 40)
    }
}

extension ByteStore {
    /// Everything stored of `range`, with the read's pieces put together.
    func all(of range: ByteRange) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let piece = try await read(
                at: range.lowerBound + Int64(bytes.count),
                count: range.count - bytes.count
            )
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }
}
