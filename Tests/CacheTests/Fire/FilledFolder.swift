import Foundation
import Media
import System
import TestSupport

@testable import Cache

/// A closed cache folder with parts of some tracks, for a test to damage.
struct FilledFolder {
    let scene = CacheScene()
    let secret: CacheSecret?
    let music: FireMusic
    /// The committed bytes, by name.
    private(set) var kept: [String: ByteRangeSet] = [:]

    /// Equal seeds cache the same parts of the same tracks.
    init(seed: UInt64, isSealed: Bool = false, count: Int = 3, longest: Int = 300_000) async throws {
        var random = SeededGenerator(seed: seed)
        secret = isSealed ? .generate() : nil
        music = FireMusic(count: count, longest: longest, using: &random)
        let folder = opener()
        for name in music.names {
            guard let version = music.newest(name) else { continue }
            let store = try await folder.open(url(name))
            store.describe(version.description)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let length = Int64(version.bytes.count)
                let start = Bool.random(using: &random) ? 0 : Int64.random(in: 0..<length, using: &random)
                let end = Int64.random(in: start + 1...length, using: &random)
                try await store.write(version.slice(start..<end), at: start)
                if Bool.random(using: &random) { try await store.commit() }
            }
            kept[name] = store.stored
            await store.close()
        }
    }

    /// An opener of its own, as another process has it.
    func opener() -> CacheFolder { scene.opener(secret: secret) }

    /// Reads all stored bytes and compares them with the music. Returns the ranges that are stored
    /// afterwards.
    func expectNoWrongByte(by folder: CacheFolder) async throws -> [String: ByteRangeSet] {
        var found: [String: ByteRangeSet] = [:]
        for name in music.names {
            guard let version = music.newest(name) else { continue }
            let store = try await folder.open(url(name))
            let length = store.description.length
            if length != nil, length != Int64(version.bytes.count) { throw WrongByte("\(name): its length") }
            if !store.stored.isSubset(of: ByteRangeSet(0..<Int64(version.bytes.count))) {
                throw WrongByte("\(name): more than there is")
            }
            // A read that finds damage drops it, so `stored` shrinks.
            var read = ByteRangeSet()
            while let missing = store.stored.subtracting(read).ranges.first {
                let bytes = try await store.read(at: missing.lowerBound, count: missing.count)
                guard bytes.matches(version.bytes, at: Int(missing.lowerBound)) else {
                    throw WrongByte("\(name) from \(missing.lowerBound) on")
                }
                read.insert(contentsOf: missing.lowerBound..<missing.lowerBound + Int64(bytes.count))
            }
            found[name] = store.stored
            await store.close()
        }
        return found
    }

    /// Writes all tracks completely, as a player would, and checks that they stay cached.
    func complete(by folder: CacheFolder) async throws {
        for name in music.names {
            guard let version = music.newest(name) else { continue }
            let store = try await folder.open(url(name))
            store.describe(version.description)
            try await store.write(version.bytes, at: 0)
            try await store.commit()
            guard store.isPersistent else { throw NotKept(name: name) }
            await store.close()
        }
    }

    /// The tracks that were written completely but did not stay cached.
    struct NotKept: Error {
        let name: String
    }

    struct WrongByte: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
