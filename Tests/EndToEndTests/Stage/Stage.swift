import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// What one test plays with: a server, a folder for everything that the player reads and saves, and the built
/// player.
final class Stage: Sendable {
    /// The arguments of a run without a screen: events, as fast as the music can be decoded.
    static let silent = ["--headless", "--json", "--sink", "null:fast"]

    let server: TestOrigin
    let folder: TemporaryFolder
    /// A good track of two seconds, as a local file.
    let music: String
    let musicBytes: [UInt8]

    /// Serves `files`, wrong in the ways of `faults`.
    init(_ files: [String: [UInt8]], faults: [Fault] = []) async throws {
        folder = try TemporaryFolder()
        musicBytes = try await MP3Fixtures.bytes(.init(seconds: 2))
        music = try folder.write(musicBytes, to: "good.mp3")
        server = try TestOrigin(files, faults: faults)
    }

    /// Serves `tracks` as `/0.mp3`, `/1.mp3` and so on.
    convenience init(_ tracks: [UInt8]..., faults: [Fault] = []) async throws {
        let files = tracks.enumerated().map { (Self.path($0), $1) }
        try await self.init(Dictionary(uniqueKeysWithValues: files), faults: faults)
    }

    static func path(_ index: Int) -> String { "/\(index).mp3" }

    func url(_ index: Int = 0) -> String { url(Self.path(index)) }

    func url(_ path: String) -> String { server.url(path) }

    var cachePath: String { folder.path("cache") }

    /// Separates the player from the files, servers and proxies of the user who runs the tests.
    var environment: [String: String?] {
        var environment: [String: String?] = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "LC_ALL": "C.UTF-8",
            "XDG_STATE_HOME": folder.path("state"), "TZ": "UTC",
            "DBUS_SESSION_BUS_ADDRESS": SessionBus.noAddress, "DBUS_SYSTEM_BUS_ADDRESS": SessionBus.noAddress,
        ]
        environment.updateValue(nil, forKey: "XDG_CACHE_HOME")
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            environment.updateValue(nil, forKey: name)
            environment.updateValue(nil, forKey: name.lowercased())
        }
        return environment
    }

    /// Starts the player with only these words, after those of `wrapper`.
    func start(
        _ words: [String],
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) throws -> RunningProcess {
        let words = wrapper + [BuiltProducts.reprise] + words
        return try RunningProcess(
            words[0],
            Array(words.dropFirst()),
            environment: self.environment.merging(environment) { $1 },
            folder: folder.path
        )
    }

    /// Starts the player without a screen on `sources`, which options may precede, with the cache of this
    /// stage.
    func startPlaying(
        _ sources: [String],
        sink: String = "null",
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) throws -> RunningProcess {
        let words = ["--headless", "--json", "--sink", sink, "--cache-dir", cachePath] + sources
        return try start(words, environment: environment, wrapper: wrapper)
    }

    /// Starts a silent run on a machine that has a route, and where only names in `/etc/hosts` have an
    /// address: no name server is asked.
    func startWithoutNameServer(_ words: [String]) throws -> RunningProcess {
        let settings = try folder.write("passwd: files\ngroup: files\nhosts: files\n", to: "nsswitch.conf")
        let script = """
            ip link set lo up && ip route add default dev lo && mount --bind "$1" /etc/nsswitch.conf && shift && exec "$@"
            """
        let words = Self.silent + ["--cache-dir", cachePath] + words
        return try start(words, wrapper: PrivateMounts.running(script, settings, hasNetwork: false))
    }

    /// Runs the player to its end with only these words; `input` is all of standard input.
    func run(
        _ words: [String],
        input: String = "",
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) async throws -> Ending {
        let process = try start(words, environment: environment, wrapper: wrapper)
        if !input.isEmpty { try process.type(input) }
        try process.closeInput()
        return try await Ending(of: process)
    }

    /// Plays `sources`, which options may precede, to their end, as fast as they can be decoded.
    func play(_ sources: [String], wrapper: [String] = []) async throws -> Ending {
        try await run(Self.silent + ["--cache-dir", cachePath] + sources, wrapper: wrapper)
    }

    /// Starts to play `sources` into a file of samples, or into `sink`.
    func session(
        _ sources: [String],
        sink: String? = nil,
        options: [String] = [],
        environment: [String: String?] = [:],
        wrapper: [String] = []
    ) throws -> Session {
        let sound = folder.path("sound-\(UInt64.random(in: 0 ... .max)).raw")
        let process = try startPlaying(
            options + sources,
            sink: sink ?? "raw:" + sound,
            environment: environment,
            wrapper: wrapper
        )
        return Session(process: process, soundPath: sound)
    }

    /// Plays `sources` to their end into a file of samples.
    func hear(_ sources: [String], environment: [String: String?] = [:]) async throws -> Ending {
        try await session(sources, environment: environment).ending()
    }

    /// Plays the first `count` of the served tracks and returns the samples.
    func samples(_ count: Int = 1, options: [String] = []) async throws -> Data {
        try await session((0..<count).map { url($0) }, options: options).finish()
    }
}

/// The words that run a command, which follows them, in a mount namespace of its own.
enum PrivateMounts {
    /// Runs `script` first, which may mount and has to `exec "$@"` after a `shift` for each of `arguments`. A
    /// user who is not root is root there (unshare(1)).
    ///
    /// Without `hasNetwork`, it has a network of its own, in which not even the loopback is up.
    static func running(_ script: String, _ arguments: String..., hasNetwork: Bool = true) -> [String] {
        let options = (geteuid() == 0 ? "-m" : "-rm") + (hasNetwork ? "" : "n")
        return ["unshare", options, "sh", "-c", script, "sh"] + arguments
    }

    /// Nothing can be written to `folder`.
    static func readOnly(_ folder: String) -> [String] {
        running(#"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#, folder)
    }
}
