import Foundation
import Media
import TestSupport
import Testing

@testable import Reprise

@Suite struct StateFolderTests {
    private let home: TemporaryFolder
    private let folder: StateFolder

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(path: home.path("deep/state/reprise"))
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func entries() -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    }

    @Test func `a file is written for its owner alone, and replaced whole`() throws {
        #expect(try folder.read("session") == nil)
        try folder.write(String(repeating: "long", count: 100_000), to: "session")
        try folder.write("short", to: "session")
        #expect(try folder.read("session") == "short")
        #expect(mode(folder.path) == 0o700)
        #expect(mode(folder.path + "/session") == 0o600)
        #expect(entries() == ["session", "lock"])
    }

    @Test func `a link in the place of a file is replaced and not followed`() throws {
        try folder.write("x", to: "other")
        let precious = try home.write("precious", to: "precious")
        symlink(precious, folder.path + "/session")
        symlink(precious, folder.path + "/session.new")
        symlink(precious, folder.path + "/history")
        try folder.write("mine", to: "session")
        folder.append("line", to: "history")
        #expect(try StateFolder(path: home.path).read("precious") == "precious")
        #expect(try folder.read("session") == "mine")
    }

    @Test func `only a text file of a sensible size is read; anything else can be set aside`() throws {
        try folder.write("x", to: "session")
        let path = folder.path + "/pipe"
        for make in [{ mkfifo(path, 0o600) }, { mkdir(path, 0o700) }] {
            #expect(make() == 0)
            #expect(throws: StateError.self) { try folder.read("pipe") }
            folder.setAside("pipe")
            #expect(try folder.read("pipe") == nil)
            try FileManager.default.removeItem(atPath: path + ".bad")
        }
        try home.write([0xFF, 0xFE] as [UInt8], to: "deep/state/reprise/session")
        #expect(throws: StateError.self) { try folder.read("session") }
        truncate(folder.path + "/session", off_t(StateFolder.largestByteCount) + 1)
        #expect(throws: StateError.self) { try folder.read("session") }
    }

    @Test func `players that write at the same time leave a whole file`() async throws {
        let texts = (0..<4).map { String(repeating: "\($0)", count: 200_000) }
        await withTaskGroup(of: Void.self) { group in
            for text in texts {
                group.addTask { [folder] in for _ in 0..<20 { try? folder.write(text, to: "session") } }
            }
        }
        let text = try #require(try folder.read("session"))
        #expect(texts.contains(text))
        #expect(entries() == ["session", "lock"])
    }

    @Test func `a long log is begun anew`() throws {
        let log = try #require(folder.log())
        folder.append("words", to: "log")
        #expect(folder.log() == log && mode(log) == 0o600)
        #expect(try folder.read("log") == "words\n")
        truncate(log, StateFolder.longestLog + 1)
        _ = folder.log()
        #expect(try folder.read("log") == nil)
    }
}
