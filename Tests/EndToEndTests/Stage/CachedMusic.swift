import Cache
import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The cache folder of a stage, and the commands for it.
extension Stage {
    /// A stage whose server has `count` brief tracks: `/a.mp3`, `/b.mp3` and so on; cached if
    /// they are fetched, and one of them pinned.
    static func brief(_ count: Int = 1, isFetched: Bool = false, pinned: String? = nil) async throws -> Stage
    {
        let stage = try await Stage()
        for (index, name) in "abcd".prefix(count).enumerated() {
            stage.server.set(try await ExactMusic.brief(UInt64(index + 1)), at: "/\(name).mp3")
            if isFetched { try await stage.fetch("/\(name).mp3") }
        }
        if let pinned { try await #require(stage.cache("pin", "--only-mark", stage.url(pinned)).status == 0) }
        return stage
    }

    /// Runs `reprise cache` with these words on this stage's folder to its end.
    func cache(_ words: String..., wrapper: [String] = []) async throws -> Ending {
        try await cache(words, wrapper: wrapper)
    }

    func cache(_ words: [String], wrapper: [String] = []) async throws -> Ending {
        let words = ["cache"] + words + ["--cache-dir", cachePath]
        return try await run(words, wrapper: wrapper)
    }

    /// Downloads the whole track at `path`.
    func fetch(_ path: String) async throws {
        let ending = try await cache("fetch", url(path))
        try #require(ending.status == 0, "\(ending.errors)")
    }

    /// The output of `info` for the track at `path`; `nil` if it is not cached.
    func info(_ path: String) async throws -> [String: Any]? {
        try await cache("info", "--json", url(path)).objects.first
    }

    /// The ranges of the track at `path` that `info` shows, as pairs of start and end.
    func ranges(_ path: String) async throws -> [[Int]] {
        try #require(try await info(path)?["ranges"] as? [[Int]])
    }

    /// The content of a file in the stage's folder; `nil` if there is none.
    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: folder.path(name)).map { [UInt8]($0) }
    }

    /// The sources of the cached entries that `reprise cache list` shows with these options.
    func cachedSources(_ options: String...) async throws -> [String] {
        guard FileManager.default.fileExists(atPath: cachePath) else { return [] }
        let list = try await cache(["list", "--json"] + options)
        #expect(list.status == 0, "\(list.errors)")
        expectHarmless(list)
        // An entry that was only opened when the session ended is empty.
        return try list.objects.filter { $0["stored"] as? Int ?? 0 > 0 || $0["pinned"] as? Bool == true }
            .compactMap { $0["source"] as? String }
    }

    /// The files with the cached bytes.
    var objectFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: cachePath + "/objects")) ?? []
        return names.sorted().map { cachePath + "/objects/" + $0 }
    }

    /// `true` if a file of the cache's index contains `text`.
    func indexMentions(_ text: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: cachePath)) ?? []
        return names.contains { name in
            FileManager.default.contents(atPath: cachePath + "/" + name)?.range(of: Data(text.utf8)) != nil
        }
    }

    /// The bytes that the index claims of the first track, or of another.
    func claims(_ index: Int = 0) throws -> IndexClaims {
        try IndexClaims(cachePath: cachePath, url: url(index))
    }

    /// Caches `ranges` of the first track, whose content is `bytes`, as if they had been played.
    func prepareCache(_ ranges: ByteRangeSet, of bytes: [UInt8], hasValidators: Bool = true) async throws {
        try await fill(ranges, of: bytes, hasValidators: hasValidators)
        // A folder cleans up after the last close; only then is everything in the index's main file.
        let log = cachePath + "/index.sqlite-wal"
        try await wait(for: "the index to be closed") { !FileManager.default.fileExists(atPath: log) }
    }

    private func fill(_ ranges: ByteRangeSet, of bytes: [UInt8], hasValidators: Bool) async throws {
        let resource = OriginResource(bytes)
        let store = try await CacheFolder(path: cachePath).open(try #require(WebURL(url())))
        var description = EntryDescription()
        description.length = Int64(bytes.count)
        description.contentType = "audio/mpeg"
        description.acceptsRanges = true
        if hasValidators {
            description.validators = Validators(etag: resource.etag, lastModified: resource.lastModified)
        }
        store.describe(description)
        for range in ranges.ranges {
            let piece = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            try await store.write(piece, at: range.lowerBound)
        }
        await store.close()
    }
}

/// Changes one bit of a file.
func flipBit(at offset: Int64, in path: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte ^ 1 << UInt8(offset % 8)]))
}
