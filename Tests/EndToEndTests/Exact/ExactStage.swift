import Cache
import Foundation
import Media
import RepriseOrigin
import TestSupport

/// A server with pieces of music, and a cache folder: what one test plays with.
final class ExactStage: Sendable {
    let server: TestOrigin
    let folder: TemporaryFolder
    let cachePath: String

    /// Serves `music` under `/0.mp3`, `/1.mp3` and so on, wrong in the ways of `faults`.
    init(_ music: [UInt8]..., faults: [Fault] = []) throws {
        folder = try TemporaryFolder()
        cachePath = folder.path("cache")
        server = try TestOrigin(faults: faults)
        for (index, bytes) in music.enumerated() { server.set(bytes, at: Self.path(index)) }
    }

    static func path(_ index: Int) -> String { "/\(index).mp3" }

    func url(_ index: Int = 0) -> String { server.url(Self.path(index)) }

    /// Plays the pieces from the first to the last and returns the samples.
    func play(_ count: Int = 1, options: [String] = []) async throws -> Data {
        try await ExactRun((0..<count).map { url($0) }, on: self, options: options).finish()
    }

    /// The bytes that the index claims of the first track, or of another.
    func claims(_ index: Int = 0) throws -> IndexClaims {
        try IndexClaims(cachePath: cachePath, url: url(index))
    }

    /// Caches `ranges` of the first track, whose content is `bytes`, as if they had been played.
    func prepareCache(_ ranges: ByteRangeSet, of bytes: [UInt8], hasValidators: Bool) async throws {
        try await fill(ranges, of: bytes, hasValidators: hasValidators)
        // A folder cleans up after the last close; only then is everything in the index's main file.
        let log = cachePath + "/index.sqlite-wal"
        try await wait(for: "the index to be closed") { !FileManager.default.fileExists(atPath: log) }
    }

    private func fill(_ ranges: ByteRangeSet, of bytes: [UInt8], hasValidators: Bool) async throws {
        guard let url = WebURL(url()) else { throw ExactFailure("no URL: \(url())") }
        let resource = OriginResource(bytes)
        let store = try await CacheFolder(path: cachePath).open(url)
        var description = EntryDescription()
        description.length = Int64(bytes.count)
        description.contentType = "audio/mpeg"
        description.acceptsRanges = true
        if hasValidators {
            description.validators = Validators(etag: resource.etag, lastModified: resource.lastModified)
        }
        store.describe(description)
        for range in ranges.ranges {
            try await store.write(
                Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]),
                at: range.lowerBound
            )
        }
        await store.close()
    }
}
