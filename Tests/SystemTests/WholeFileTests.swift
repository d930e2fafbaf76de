import Foundation
import Glibc
import System
import TestSupport
import Testing

@Suite struct WholeFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ name: String, limit: Int) throws -> [UInt8] {
        let descriptor = try check("open", open(folder.path(name), O_RDONLY | O_CLOEXEC))
        defer { close(descriptor) }
        return try WholeFile.read(descriptor, limit: limit)
    }

    @Test(arguments: [(0, 10), (9, 10), (10, 10), (11, 10), (300_000, 300_001), (600_000, 524_288)])
    func `a file is read to its end or to the limit`(size: Int, limit: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try WholeFile.replace(folder.path("a"), with: bytes, mode: 0o600)
        #expect(try read("a", limit: limit) == Array(bytes.prefix(limit)))
    }

    @Test func `a pipe is read to its end, however it comes`() throws {
        var ends: [CInt] = [0, 0]
        try check("make a pipe", pipe(&ends))
        let writer = ends[1]
        let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        NamedThread.start("pipe") {
            for start in stride(from: 0, to: bytes.count, by: 10_007) {
                try? WholeFile.write(bytes[start..<min(start + 10_007, bytes.count)], to: writer)
            }
            close(writer)
        }
        defer { close(ends[0]) }
        #expect(try WholeFile.read(ends[0], limit: 1_000_000) == bytes)
    }

    @Test func `a failed read or write says why`() throws {
        let descriptor = try check("open", open(folder.path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(descriptor) }
        #expect(throws: SystemError("read the file", number: EISDIR)) {
            try WholeFile.read(descriptor, limit: 10)
        }
        let full = try check("open", open("/dev/full", O_WRONLY | O_CLOEXEC))
        defer { close(full) }
        #expect(throws: SystemError("write the file", number: ENOSPC)) {
            try WholeFile.write([1, 2, 3], to: full)
        }
    }

    @Test func `a file is replaced whole, with the mode asked for, and no draft is left`() throws {
        let path = folder.path("a")
        for text in ["first", "second, and longer", ""] {
            try WholeFile.replace(path, with: text.utf8, mode: 0o600)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["a"])
    }

    @Test func `a draft that a killed writer left is replaced, and never followed`() throws {
        let path = folder.path("a")
        try folder.write("precious", to: "other")
        try check("make a link", symlink(folder.path("other"), folder.path("draft")))
        try WholeFile.replace(path, with: "new".utf8, mode: 0o600, draft: folder.path("draft"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(try String(contentsOfFile: folder.path("other"), encoding: .utf8) == "precious")
    }

    @Test func `if a file cannot be replaced, the old one stays and the draft goes`() throws {
        try folder.makeFolder("a/inside")
        let error = #expect(throws: SystemError.self) {
            try WholeFile.replace(folder.path("a"), with: "new".utf8, mode: 0o600)
        }
        #expect(error?.operation == "replace the file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["a"])
        #expect(throws: SystemError("make the file", number: ENOENT)) {
            try WholeFile.replace(folder.path("nowhere/b"), with: "new".utf8, mode: 0o600)
        }
    }
}
