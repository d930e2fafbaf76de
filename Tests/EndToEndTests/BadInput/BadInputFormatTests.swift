import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Audio of other formats, made by ffmpeg, in the built program.
@Suite struct BadInputFormatTests {
    typealias Format = (file: String, arguments: [String], name: String)

    private static let formats: [Format] = [
        ("called.flac", ["-c:a", "wavpack", "-f", "wv"], "WavPack"), ("song.wv", [], "WavPack"),
        ("called.mp3", ["-f", "caf"], "CAF"),
    ]

    /// Four seconds of noise in `format`, which is the most that other decoders' frames can look like
    /// headers.
    private func make(_ format: Format, in folder: TemporaryFolder) async throws -> String {
        let path = folder.path(format.file)
        let noise = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "anoisesrc=d=4:a=0.3:seed=1"]
        _ = try await RunningProcess.run("ffmpeg", noise + format.arguments + [path])
        return path
    }

    @Test(arguments: formats)
    func `audio of another format is refused by its name, on disk and on a server`(format: Format)
        async throws
    {
        for isOnServer in [false, true] {
            let stage = try await Stage()
            let path = try await make(format, in: stage.folder)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            stage.server.set(bytes, at: "/" + format.file)
            let words = [format.file, AudioKind.refusal(of: SafeText("looks like \(format.name)")).string]
            let source = isOnServer ? stage.secretURL("/" + format.file) : path
            try await stage.expectRefused(source, "not-audio", words)
        }
    }

    @Test func `a folder states how many files of other formats it leaves out, which is no failure`()
        async throws
    {
        let stage = try await Stage()
        for name in ["a/1.wv", "a/2.wv", "b/3.caf", "cover.jpg", "notes.txt"] {
            try stage.folder.write("words", to: "music/" + name)
        }
        try stage.folder.write(stage.musicBytes, to: "music/song.mp3")
        let run = try await stage.play([stage.folder.path("music")])
        #expect(run.status == 0 && run.finished == [88_200])
        let notices = run.events.filter { $0.code == "left-out" }.compactMap(\.message)
        let words = AudioKind.refusal(of: "Left out 3 files: 2 WavPack, 1 CAF")
        #expect(notices == ["\(stage.folder.path("music")): \(words)"])
    }
}
