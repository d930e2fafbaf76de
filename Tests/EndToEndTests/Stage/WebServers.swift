import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A stage with real servers.
extension Stage {
    /// `song.mp3` of `webFolder`: 40 s, 640 kB, several windows.
    static let song = ExactMusic.made(MP3Fixtures.Options(seconds: 40))

    /// The folder that `nginx` serves, with `song.mp3` in it.
    var webFolder: String {
        get async throws {
            let folder = try folder.makeFolder("web")
            if !FileManager.default.fileExists(atPath: folder + "/song.mp3") {
                try await FileManager.default.copyItem(atPath: Self.song.path, toPath: folder + "/song.mp3")
            }
            return folder
        }
    }

    /// nginx over `webFolder`.
    func nginx(
        host: String = "127.0.0.1",
        certificate: PrivateAuthority.Certificate? = nil,
        extra: String = ""
    ) async throws -> NginxServer {
        try await NginxServer(serving: webFolder, host: host, certificate: certificate, extra: extra)
    }

    /// The places where any of `secrets` appears: in the player's output, or in any file that it saves.
    func leaks(of secrets: [String], in run: Ending) -> [String] {
        var texts = [("standard output", Data(run.bytes)), ("standard error", Data(run.errors.utf8))]
        for folder in ["cache", "config", "state"].map({ folder.path($0) }) {
            for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
                let path = folder + "/" + name
                texts.append((path, FileManager.default.contents(atPath: path) ?? Data()))
            }
        }
        return texts.filter { place, content in
            secrets.contains { place.contains($0) || content.range(of: Data($0.utf8)) != nil }
        }.map(\.0)
    }
}

/// Expects that `run` played `song.mp3` of `Stage.webFolder` without an error, sample by sample.
func expectSong(_ run: Ending, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    expectSame(run.samples, as: try await Stage.song.reference, sourceLocation: sourceLocation)
}

extension LoggedRequest {
    /// The range of a `Range` field `bytes=FIRST-LAST`; empty for any other.
    var asked: ByteRange {
        let numbers = (range ?? "").split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return 0..<0 }
        return numbers[0]..<numbers[1] + 1
    }
}
