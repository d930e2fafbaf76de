import Foundation
import Media
import RepriseOrigin
import TestSupport

/// A server with pieces of music, a cache folder, and the built player's commands for it.
final class CacheStage: Sendable {
    /// The exit status and the output of a command.
    struct Ending: Sendable {
        var status: Int32
        var output: [UInt8]
        var errors: String

        /// Waits for the end of `process`.
        init(of process: RunningProcess) async throws {
            try process.closeInput()
            status = try await process.waitForExit()
            output = process.output
            errors = process.errorText
        }

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

        /// Every line of standard output, each a JSON object.
        var objects: [[String: Any]] {
            get throws {
                try lines.map { line in
                    guard
                        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    else { throw CacheFailure(description: "no JSON object: \(line)") }
                    return object
                }
            }
        }
    }

    let server: TestOrigin
    let folder: TemporaryFolder
    var cachePath: String { folder.path("cache") }
    var environment: [String: String?] {
        [
            "XDG_CACHE_HOME": folder.path("home"), "XDG_STATE_HOME": folder.path("state"),
            "XDG_CONFIG_HOME": folder.path("config"), "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "http_proxy": nil as String?, "all_proxy": nil,
        ]
    }

    /// Serves each of `music` under its name.
    init(_ music: [String: [UInt8]] = [:]) throws {
        folder = try TemporaryFolder()
        server = try TestOrigin(music)
    }

    /// 320 kB and 8 s of music; another one for each seed.
    static func short(_ seed: UInt64 = 1) async throws -> [UInt8] {
        try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 8, rate: .constant(320), seed: seed))
    }

    /// 4 MB and 100 s of music.
    static func long() async throws -> [UInt8] {
        try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 100, rate: .constant(320)))
    }

    func url(_ path: String) -> String { server.url(path) }

    /// Starts `reprise cache` with these words; `cacheDir` false leaves the folder out.
    func start(_ words: [String], hasFolder: Bool = true) throws -> RunningProcess {
        try RunningProcess(
            BuiltProducts.reprise,
            ["cache"] + words + (hasFolder ? ["--cache-dir", cachePath] : []),
            environment: environment,
            folder: folder.path
        )
    }

    /// Runs `reprise cache` with these words to its end.
    func run(_ words: String..., input: String? = nil, hasFolder: Bool = true) async throws -> Ending {
        try await run(words, input: input, hasFolder: hasFolder)
    }

    func run(_ words: [String], input: String? = nil, hasFolder: Bool = true) async throws -> Ending {
        let process = try start(words, hasFolder: hasFolder)
        if let input { try process.send(input) }
        return try await Ending(of: process)
    }

    /// Plays the sources to their end, as fast as they are decoded, and returns how the player ended.
    @discardableResult
    func play(_ words: [String]) async throws -> Ending {
        let process = try RunningProcess(
            BuiltProducts.reprise,
            ["--headless", "--json", "--sink", "null:fast", "--cache-dir", cachePath] + words,
            environment: environment,
            folder: folder.path
        )
        return try await Ending(of: process)
    }

    /// Fetches the music at `path` whole.
    func fetch(_ path: String) async throws {
        let ending = try await run("fetch", url(path))
        guard ending.status == 0 else { throw CacheFailure(description: "no fetch: \(ending.errors)") }
    }

    /// The output of `info` for the track at `path`; `nil` if it is not cached.
    func info(_ path: String) async throws -> [String: Any]? {
        try await run("info", "--json", url(path)).objects.first
    }

    /// The files with music in them, with their sizes.
    var objectFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: cachePath + "/objects")) ?? []
        return names.sorted().map { cachePath + "/objects/" + $0 }
    }
}

struct CacheFailure: Error, CustomStringConvertible {
    var description: String
}
