import Glibc
import Media
import TestSupport

@testable import Cache

/// The resources of a workload: every version of every one has bytes and an entity tag of its own.
struct FireMusic: Sendable {
    struct Version: Sendable {
        let name: String
        let number: Int
        let bytes: [UInt8]

        /// Also says which version it is, for `FireMusic.bytes(etag:)`.
        var etag: String { "\"\(name)-\(number)\"" }

        var description: EntryDescription {
            var description = EntryDescription()
            description.length = Int64(bytes.count)
            description.contentType = "audio/mpeg"
            description.validators = Validators(etag: etag)
            description.acceptsRanges = true
            return description
        }

        func slice(_ range: ByteRange) -> [UInt8] {
            Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
    }

    // Slices of one sequence of random bytes, because generating new ones for each version takes long in
    // debug builds.
    private static let pool = ByteFixtures.bytes(count: 2_000_000, seed: 1)

    private var versions: [String: [Version]] = [:]
    private var byTag: [String: Version] = [:]

    /// Creates `count` resources of 1 to `longest` bytes, in their first versions.
    init(count: Int, longest: Int, using random: inout SeededGenerator) {
        for index in 0..<count {
            add("\(index).mp3", length: Int.random(in: 1...longest, using: &random), using: &random)
        }
    }

    var names: [String] { versions.keys.sorted() }

    func newest(_ name: String) -> Version? { versions[name]?.last }

    /// The right content of the entry with this entity tag.
    func bytes(etag: String) -> [UInt8]? { byTag[etag]?.bytes }

    /// The resource changes on its server.
    mutating func change(_ name: String, using random: inout SeededGenerator) {
        let length = newest(name)?.bytes.count ?? 1
        add(name, length: max(1, length + Int.random(in: -500...500, using: &random)), using: &random)
    }

    private mutating func add(_ name: String, length: Int, using random: inout SeededGenerator) {
        let number = versions[name, default: []].count
        let start = Int.random(in: 0..<Self.pool.count - length, using: &random)
        let bytes = Array(Self.pool[start..<start + length])
        let version = Version(name: name, number: number, bytes: bytes)
        versions[name, default: []].append(version)
        byTag[version.etag] = version
    }
}

extension [UInt8] {
    /// `true` if these are the bytes of `source` from `offset` on. Uses one C call, because debug builds
    /// compare slowly.
    func matches(_ source: [UInt8], at offset: Int) -> Bool {
        guard offset >= 0, offset + count <= source.count else { return false }
        return withUnsafeBytes { own in
            source.withUnsafeBytes { other in
                guard let own = own.baseAddress, let other = other.baseAddress else { return true }
                return memcmp(own, other + offset, count) == 0
            }
        }
    }
}
