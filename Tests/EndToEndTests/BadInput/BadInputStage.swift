import Foundation
import TestSupport
import Testing

/// The surroundings of one test of the built player: files, a cache and a home folder of its own.
final class BadInputStage: Sendable {
    /// The arguments for runs without a terminal: events, faster than real time.
    static let silent = ["--headless", "--json", "--sink", "null:fast"]

    let folder: TemporaryFolder
    /// A good piece of music of two seconds, as a local file.
    let music: String
    let musicBytes: [UInt8]

    init() async throws {
        folder = try TemporaryFolder()
        musicBytes = try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 2))
        music = try folder.write(musicBytes, to: "good.mp3")
    }

    var cacheFolder: String { folder.path("cache") }

    /// The environment that separates the player from the files, servers and proxies of the user who runs the
    /// tests.
    var environment: [String: String?] {
        var environment: [String: String?] = [
            "HOME": folder.path, "XDG_CACHE_HOME": nil as String?, "XDG_CONFIG_HOME": nil as String?,
            "XDG_STATE_HOME": nil as String?, "LC_ALL": "C.UTF-8",
        ]
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            environment.updateValue(nil, forKey: name)
            environment.updateValue(nil, forKey: name.uppercased())
        }
        return environment
    }

    /// Starts the player with only these arguments, after the words of `wrapper`.
    func start(
        _ arguments: [String],
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) throws -> RunningProcess {
        let words = wrapper + [BuiltProducts.reprise] + arguments
        return try RunningProcess(
            words[0],
            Array(words.dropFirst()),
            environment: self.environment.merging(environment) { $1 },
            folder: folder.path
        )
    }

    /// The same, but only names in `/etc/hosts` have an address, and no name server is queried, because the
    /// machine's may not respond.
    func startWithoutNameServer(_ arguments: [String]) throws -> RunningProcess {
        let settings = try folder.write("passwd: files\ngroup: files\nhosts: files\n", to: "nsswitch.conf")
        let script = "mount --bind \"$1\" /etc/nsswitch.conf && shift && exec \"$@\""
        return try start(arguments, wrapper: PrivateMounts.running(script, settings))
    }

    /// Runs the player to its end with these arguments and no others; standard input is empty.
    func run(_ arguments: [String], environment: [String: String?] = [:]) async throws -> BadInputRun {
        let process = try start(arguments, environment: environment)
        try process.closeInput()
        return try await BadInputRun(endOf: process)
    }

    /// Plays `sources` to their end, with the cache in `cacheFolder`.
    func play(_ sources: [String], options: [String] = []) async throws -> BadInputRun {
        try await run(Self.silent + ["--cache-dir", cacheFolder] + options + sources)
    }

    /// The cached entries that `reprise cache list` shows.
    func keptSources() async throws -> [String] {
        guard FileManager.default.fileExists(atPath: cacheFolder) else { return [] }
        let list = try await run(["cache", "list", "--json", "--cache-dir", cacheFolder])
        #expect(list.status == 0, "\(list.errorOutput)")
        expectHarmless(list)
        return try list.output.split(separator: "\n").compactMap { line in
            let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            // An entry that was only opened when the session ended is empty.
            guard try #require(entry?["stored"] as? Int64) > 0 else { return nil }
            return try #require(entry?["source"] as? String)
        }
    }

    /// The files with the cached bytes.
    var keptObjects: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: cacheFolder + "/objects")) ?? []
    }

    /// `true` if a file of the cache's index contains `text`.
    func indexMentions(_ text: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: cacheFolder)) ?? []
        return names.contains { name in
            FileManager.default.contents(atPath: cacheFolder + "/" + name)?.range(of: Data(text.utf8)) != nil
        }
    }

    /// Plays `source` alone, and then between two good tracks, one of them from `server`; expects the effects
    /// of bad input from both: one sentence with all of `words`, one failure with `code`, the good tracks
    /// played completely, and only the good one cached.
    func expectRefused(
        _ source: String,
        code: String,
        words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let alone = try await play([source])
        expectOneSentence(alone, words, status: 2, sourceLocation: sourceLocation)
        #expect(alone.failureCodes == [code], sourceLocation: sourceLocation)
        #expect(alone.events.last?.event == "summary", sourceLocation: sourceLocation)
        #expect(alone.events.last?.played == 0, sourceLocation: sourceLocation)
        #expect(alone.events.last?.failed == 1, sourceLocation: sourceLocation)
        #expect(try await keptSources() == [], sourceLocation: sourceLocation)
        #expect(keptObjects == [], sourceLocation: sourceLocation)

        let server = try TestOrigin(["/other.mp3": musicBytes])
        let other = server.url("/other.mp3")
        let among = try await play([music, source, other])
        expectOneSentence(among, words, status: 3, sourceLocation: sourceLocation)
        #expect(among.failureCodes == [code], sourceLocation: sourceLocation)
        #expect(among.finished == [88_200, 88_200], sourceLocation: sourceLocation)
        #expect(among.events.last?.played == 2, sourceLocation: sourceLocation)
        #expect(among.events.last?.failed == 1, sourceLocation: sourceLocation)
        #expect(try await keptSources() == [other], sourceLocation: sourceLocation)
        #expect(keptObjects.count == 1, sourceLocation: sourceLocation)
        #expect(!indexMentions(badInputSecret), sourceLocation: sourceLocation)
        await server.stop()
    }
}
