import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Loading

/// What a file promises beside `ByteSourceContractTests`.
@Suite struct FileReaderTests {
    private let thread = WorkThread(name: "test-files")
    @Test func `sequential reads are answered from bytes that were read ahead`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("song.mp3")
        let write = { (bytes: [UInt8]) in try Data(bytes).write(to: URL(fileURLWithPath: path)) }
        try write(Array(0..<40))
        let reader = try await FileReader.open(path, on: thread)
        #expect(try await reader.read(at: 0, count: 10) == Array(0..<10))
        // A first read may be of the head only, so nothing is read ahead yet.
        await thread.run {}
        try write(Array(repeating: 100, count: 40))
        #expect(try await reader.read(at: 10, count: 10) == [UInt8](repeating: 100, count: 10))
        await thread.run {}
        try write(Array(repeating: 200, count: 40))
        #expect(try await reader.read(at: 20, count: 10) == [UInt8](repeating: 100, count: 10))
        await thread.run {}
        #expect(try await reader.read(at: 30, count: 10) == [UInt8](repeating: 200, count: 10))
        #expect(try await reader.read(at: 40, count: 10).isEmpty)
    }

    @Test func `a file that is cut short fails the reads behind its new end`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("song.mp3")
        try Data(repeating: 1, count: 40).write(to: URL(fileURLWithPath: path))
        let reader = try await FileReader.open(path, on: thread)
        #expect(truncate(path, 25) == 0)
        #expect(try await reader.read(at: 20, count: 10).count == 5)
        let error = await #expect(throws: MediaError.self) { _ = try await reader.read(at: 25, count: 10) }
        #expect(error?.code == .cut)
        #expect(try await reader.read(at: 40, count: 10).isEmpty)
    }

    @Test func `a missing file and a folder have different errors`() async throws {
        let missing = await #expect(throws: MediaError.self) {
            _ = try await FileReader.open("/nowhere/song.mp3", on: thread)
        }
        #expect(missing?.code == .notFound)
        let folder = await #expect(throws: MediaError.self) {
            _ = try await FileReader.open("/tmp", on: thread)
        }
        #expect(folder?.code == .unreadable)
        #expect(folder?.description.contains("folder") == true)
    }
}
