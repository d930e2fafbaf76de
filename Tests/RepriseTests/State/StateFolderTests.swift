import Foundation
import Media
import System
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

    private func volume() throws -> Int { try folder.read { try $0.session() }.volume }

    private func setVolume(_ volume: Int) throws {
        try folder.change { tables in
            var session = try tables.session()
            session.volume = volume
            try tables.save(session)
        }
    }

    @Test func `the database is written for its owner alone, and reading creates nothing`() throws {
        #expect(try volume() == 100)
        #expect(!FileManager.default.fileExists(atPath: home.path("deep")))
        try setVolume(5)
        #expect(try volume() == 5)
        #expect(mode(folder.path) == 0o700 && mode(folder.databasePath) == 0o600)
        #expect(entries() == ["state.sqlite"])
        // A player that was killed before it made the tables.
        try home.write([], to: "deep/state/reprise/state.sqlite")
        #expect(try volume() == 100)
        try setVolume(6)
        #expect(try volume() == 6)
    }

    @Test func `a link in the place of the folder is followed, one in the place of the file is not`() throws {
        try setVolume(5)
        symlink(folder.path, home.path("link"))
        let linked = StateFolder(path: home.path("link"))
        #expect(try linked.read { try $0.session() }.volume == 5)
        try FileManager.default.moveItem(atPath: folder.databasePath, toPath: home.path("precious"))
        let precious = try Data(contentsOf: URL(fileURLWithPath: home.path("precious")))
        symlink(home.path("precious"), folder.databasePath)
        #expect(throws: SystemError.self) { try volume() }
        #expect(throws: SystemError.self) { try setVolume(6) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: home.path("precious"))) == precious)
    }

    @Test func `anything else in the place of the file is an error`() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for make in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }] as [(String) -> CInt] {
            #expect(make(folder.databasePath) == 0)
            let error = #expect(throws: SQLiteError.self) { try volume() }
            #expect(error?.message == "it is not a file")
            #expect(throws: (any Error).self) { try setVolume(6) }
            try FileManager.default.removeItem(atPath: folder.databasePath)
        }
    }

    @Test func `a change that fails leaves everything as it was`() throws {
        try setVolume(5)
        #expect(throws: CancellationError.self) {
            try folder.change { tables in
                try tables.setPlayed(true, "a")
                try tables.save(SavedSession())
                throw CancellationError()
            }
        }
        #expect(try volume() == 5)
        #expect(try folder.read { try $0.played() }.isEmpty)
    }

    @Test func `a long log is begun anew`() throws {
        let log = try #require(folder.log())
        try home.write("words", to: "deep/state/reprise/log")
        #expect(folder.log() == log && entries() == ["log"])
        truncate(log, StateFolder.longestLog + 1)
        #expect(folder.log() == log && entries() == [])
    }
}
