import Foundation
import TestSupport

/// The environment of tests with real servers: folders for a server and for a user, and a song.
final class NetworkStage: Sendable {
    let folder: TemporaryFolder
    /// The decoded song.
    let samples: [UInt8]

    /// 40 s, 640 KB: several windows.
    init() async throws {
        folder = try TemporaryFolder()
        for name in ["web", "home"] { try folder.makeFolder(name) }
        let path = try await MP3Fixtures.file(.init(seconds: 40))
        try FileManager.default.copyItem(atPath: path, toPath: folder.path("web/song.mp3"))
        samples = try await MP3Fixtures.referencePCM(of: path)
    }

    /// The folder that a server serves: `song.mp3` and files that a test adds.
    var webFolder: String { folder.path("web") }
    /// The listener's home folder, where `.netrc` belongs.
    var homeFolder: String { folder.path("home") }
    /// The folder for all files that the player saves.
    var keptFolders: [String] { ["cache", "config", "state"].map { folder.path($0) } }

    /// Starts the player as this stage's listener. `environment` is added to one without any proxy or
    /// certificate of the machine's own.
    func start(_ arguments: [String], environment: [String: String?] = [:]) throws -> RunningProcess {
        try RunningProcess(BuiltProducts.reprise, commandLine(arguments), environment: variables(environment))
    }

    /// Plays to the end, into a file.
    func play(_ arguments: [String], environment: [String: String?] = [:]) async throws -> NetworkRun {
        let sound = folder.path("sound-\(UInt64.random(in: 0 ... .max)).raw")
        let process = try start(["--sink", "raw:\(sound)"] + arguments, environment: environment)
        let status = try await process.waitForExit()
        return NetworkRun(
            status: status,
            output: String(decoding: process.output, as: UTF8.self),
            errorText: process.errorText,
            samples: [UInt8](FileManager.default.contents(atPath: sound) ?? Data())
        )
    }

    /// The player's arguments with those that all of these tests have in common.
    func commandLine(_ arguments: [String]) -> [String] {
        ["--headless", "--json", "--cache-dir", folder.path("cache")] + arguments
    }

    /// The listener's environment with `more`.
    func variables(_ more: [String: String?]) -> [String: String?] {
        var variables: [String: String?] = [
            "HOME": homeFolder, "XDG_STATE_HOME": folder.path("state"),
            "XDG_CONFIG_HOME": folder.path("config"),
        ]
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            variables.updateValue(nil, forKey: name)
            variables.updateValue(nil, forKey: name.uppercased())
        }
        variables.updateValue(nil, forKey: "SSL_CERT_FILE")
        variables.updateValue(nil, forKey: "SSL_CERT_DIR")
        for (name, value) in more { variables.updateValue(value, forKey: name) }
        return variables
    }

    /// The places where any of `secrets` appears: in the player's output, or in any file that it saves.
    func leaks(of secrets: [String], in run: NetworkRun) throws -> [String] {
        var leaks: [String] = []
        for secret in secrets {
            if run.output.contains(secret) { leaks.append("standard output") }
            if run.errorText.contains(secret) { leaks.append("standard error") }
            for kept in keptFolders {
                for name in FileManager.default.enumerator(atPath: kept)?.compactMap({ $0 as? String }) ?? []
                {
                    let path = kept + "/" + name
                    if name.contains(secret) { leaks.append("the name of \(path)") }
                    let content = FileManager.default.contents(atPath: path) ?? Data()
                    if content.range(of: Data(secret.utf8)) != nil { leaks.append(path) }
                }
            }
        }
        return leaks
    }
}

/// How one run of the player went.
struct NetworkRun: Sendable {
    var status: Int32
    var output: String
    var errorText: String
    /// The samples that the sink received.
    var samples: [UInt8]

    /// The events, in their order.
    var events: [ReportedEvent] {
        get throws {
            try output.split(separator: "\n").map { try ReportedEvent(line: String($0)) }
        }
    }

    /// Why the first track ended as it did; nil when it ended well.
    var failure: ReportedEvent.Failure? {
        get throws { try events.first { $0.event == "ended" }?.error }
    }
}
