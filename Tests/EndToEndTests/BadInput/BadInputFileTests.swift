import TestSupport
import Testing

/// Invalid sources on the local disk.
@Suite struct BadInputFileTests {
    @Test func `a missing file is named and the others play`() async throws {
        let stage = try await BadInputStage()
        let path = stage.folder.path("nothing.mp3")
        try await stage.expectRefused(path, code: "not-found", words: [path, "no such file"])
    }

    @Test func `a missing playlist is named and the others play`() async throws {
        let stage = try await BadInputStage()
        let path = stage.folder.path("nothing.m3u8")
        try await stage.expectRefused(path, code: "not-found", words: [path, "no such file"])
    }

    @Test func `a folder without music is named and the others play`() async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.makeFolder("quiet")
        try stage.folder.write("words", to: "quiet/readme.txt")
        try stage.folder.makeFolder("quiet/within")
        try await stage.expectRefused(path, code: "empty-folder", words: [path, "no music in this folder"])
    }

    @Test(arguments: ["empty.mp3", "empty"])
    func `an empty file is named and the others play`(name: String) async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write("", to: name)
        try await stage.expectRefused(path, code: "empty", words: [path, "empty"])
    }

    @Test func `an empty playlist is named and the others play`() async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write("", to: "empty.m3u")
        try await stage.expectRefused(path, code: "empty", words: [path, "the file is empty"])
    }

    @Test func `a web page named as music is called one`() async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write("<!DOCTYPE html><title>Oops</title>", to: "page.mp3")
        try await stage.expectRefused(path, code: "not-audio", words: [path, "a web page instead of audio"])
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `random bytes named as music are refused`(seed: UInt64) async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write(ByteFixtures.bytes(count: 400_000, seed: seed), to: "noise.mp3")
        try await stage.expectRefused(path, code: "not-audio", words: [path, "Not MP3"])
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `random bytes named as a playlist are refused`(seed: UInt64) async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write(ByteFixtures.bytes(count: 400_000, seed: seed), to: "noise.m3u8")
        try await stage.expectRefused(path, code: "bad-playlist", words: [path, "not a playlist"])
    }

    @Test(arguments: ["", "# nothing but a comment\n", "<!DOCTYPE html><p>words", "\u{0}\u{1}\u{2}"])
    func `a list on standard input that names no music is told`(list: String) async throws {
        let stage = try await BadInputStage()
        for (others, status) in [([], 2), ([stage.music], 3)] as [([String], Int32)] {
            let arguments = BadInputStage.silent + ["--cache-dir", stage.cacheFolder] + others + ["-"]
            let process = try stage.start(arguments)
            try process.send(list)
            try process.closeInput()
            let run = try await BadInputRun(endOf: process)
            expectOneSentence(run, ["standard input", "playlist"], status: status)
            #expect(run.failureCodes == ["bad-playlist"])
            #expect(run.finished == others.map { _ in 88_200 })
        }
    }

    @Test func `a playlist that contains itself alone is refused`() async throws {
        let stage = try await BadInputStage()
        let path = try stage.folder.write("round.m3u\n", to: "round.m3u")
        try await stage.expectRefused(path, code: "bad-playlist", words: [path, "contains itself"])
    }

    @Test func `a named pipe without a writer is refused and waited for by nobody`() async throws {
        let stage = try await BadInputStage()
        let path = stage.folder.path("pipe.mp3")
        _ = try await RunningProcess.run("mkfifo", [path])
        try await stage.expectRefused(path, code: "unreadable", words: [path, "not a file or folder"])
    }

    @Test func `a file that is cut in the middle plays as far as it goes`() async throws {
        let stage = try await BadInputStage()
        let options = MP3Fixtures.Options(seconds: 8, rate: .variable(quality: 4, hasXing: true))
        let whole = try await MP3Fixtures.bytes(options)
        // Within a frame, while the Xing header promises all of them.
        let path = try stage.folder.write(Array(whole[..<(whole.count * 3 / 5 + 17)]), to: "cut.mp3")
        let reference = try await MP3Fixtures.referencePCM(of: path)
        let run = try await stage.play([path, stage.music])
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.errorOutput == "")
        #expect(run.finished == [Int64(reference.count / 4), 88_200])
        #expect(reference.count / 4 > 3 * 44_100)
        expectHarmless(run)
    }
}
