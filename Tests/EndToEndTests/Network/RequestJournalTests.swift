import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// `--journal` through the binary.
@Suite struct RequestJournalTests {
    private struct Line: Decodable {
        var event: String
        var resource: String
        var number: Int?
        var why: String?
        var status: Int?
        var bytes: Int64?
    }

    private func lines(of path: String) throws -> [Line] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    @Test func `every request of a session is a line without secrets, and its bytes add up`() async throws {
        let stage = try await Stage()
        stage.server.set(stage.musicBytes, at: "/song.mp3")
        let path = stage.folder.path("journal")
        let run = try await stage.play(
            ["--journal", path] + ["/song.mp3", "/none.mp3"].map(stage.secretURL)
        )
        #expect(run.status == 3, "\(run.errors)")
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(badInputSecret))
        var requests = try lines(of: path).filter { $0.event == "request" }
        #expect(requests.count == stage.server.log.requests.count)
        #expect(requests.compactMap(\.number) == Array(1...requests.count))
        #expect(requests.first?.why == "demand")
        #expect(requests.contains { $0.status == 404 && $0.resource.hasPrefix(stage.url("/none.mp3")) })
        requests.removeAll { $0.status == 404 }
        #expect(requests.allSatisfy { $0.status == 206 && $0.resource.hasPrefix(stage.url("/song.mp3")) })
        let bytes = requests.reduce(Int64(0)) { $0 + ($1.bytes ?? 0) }
        #expect(bytes == Int64(stage.musicBytes.count))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a journal that cannot be written is refused at the start`() async throws {
        let stage = try await Stage()
        let path = stage.folder.path("none/journal")
        let run = try await stage.play(["--journal", path, stage.music])
        expectOneSentence(run, ["--journal", path, "No such file"], status: 64)
        #expect(run.output == "")
    }
}
