import Foundation
import Glibc
import Media
import TestSupport
import Testing

@testable import Reprise

@Suite
struct WrittenFileTests {
    private func write(_ text: String, to file: ExportFile) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress, $0.count) }
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func `an export appears when it is whole, and leaves nothing behind when it is not`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.mp3")
        do {
            let file = try ExportFile(path: path, replaces: false)
            write("music", to: file)
            #expect(!FileManager.default.fileExists(atPath: path))
            try file.publish()
        }
        #expect(text(path) == "music")
        do {
            let file = try ExportFile(path: folder.path("other.mp3"), replaces: false)
            write("mu", to: file)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out.mp3"])
    }

    @Test func `an export replaces a file only if asked to`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("old", to: "out.mp3")
        #expect(throws: MediaError.self) { try ExportFile(path: path, replaces: false) }
        // Nor a file that appeared while the music was written.
        let late = folder.path("late.mp3")
        do {
            let file = try ExportFile(path: late, replaces: false)
            try folder.write("meanwhile", to: "late.mp3")
            #expect(throws: MediaError.self) { try file.publish() }
        }
        #expect(text(late) == "meanwhile" && text(path) == "old")
        do {
            let file = try ExportFile(path: path, replaces: true)
            write("new", to: file)
            try file.publish()
        }
        #expect(text(path) == "new")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["late.mp3", "out.mp3"])
    }

    @Test(arguments: [
        ("", ": a folder; name a file in it"), ("/missing/out.mp3", "No such file"),
        ("/../../../../../../../../dev/null", "not a regular file"),
    ])
    func `an export that cannot be written says why`(name: String, cause: String) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: MediaError.self) {
            try ExportFile(path: folder.path + name, replaces: true)
        }
        #expect(error?.description.contains(cause) == true)
    }

    @Test func `a secret's file is its owner's alone and never overwritten`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        try SecretFile.make(at: path, text: "first\n")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(throws: MediaError.self) { try SecretFile.make(at: path, text: "second\n") }
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
        #expect(throws: MediaError.self) { try SecretFile.make(at: folder.path("link"), text: "second\n") }
        #expect(text(path) == "first\n")
    }
}
