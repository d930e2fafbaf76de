import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct FileReaderTests {
    private let thread = WorkThread(name: "test-files")

    private func file(_ bytes: [UInt8]) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("reprise-\(UUID()).mp3").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a file is read at any offset, and past its end nothing`() async throws {
        let path = try file(Array(0..<200))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let reader = try await FileReader.open(path, on: thread)
        #expect(reader.length == 200)
        #expect(try await reader.read(at: 50, count: 3) == [50, 51, 52])
        #expect(try await reader.read(at: 198, count: 10) == [198, 199])
        #expect(try await reader.read(at: 200, count: 10).isEmpty)
        #expect(try await reader.read(at: 9_999, count: 10).isEmpty)
        #expect(reader.isStored(0..<200))
    }

    @Test func `what comes next is read before who reads on asks for it`() async throws {
        let path = try file(Array(0..<40))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let reader = try await FileReader.open(path, on: thread)
        #expect(try await reader.read(at: 0, count: 10) == Array(0..<10))
        // A first read may be that of a head only, without further reads.
        await thread.run {}
        try Data(repeating: 100, count: 40).write(to: URL(fileURLWithPath: path), options: [])
        #expect(try await reader.read(at: 10, count: 10) == [UInt8](repeating: 100, count: 10))
        await thread.run {}
        try Data(repeating: 200, count: 40).write(to: URL(fileURLWithPath: path), options: [])
        #expect(try await reader.read(at: 20, count: 10) == [UInt8](repeating: 100, count: 10))
        await thread.run {}
        #expect(try await reader.read(at: 30, count: 10) == [UInt8](repeating: 200, count: 10))
        #expect(try await reader.read(at: 40, count: 10).isEmpty)
    }

    @Test func `a cancelled read throws at once`() async throws {
        let path = try file([1, 2, 3])
        defer { try? FileManager.default.removeItem(atPath: path) }
        let reader = try await FileReader.open(path, on: thread)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reader.read(at: 0, count: 1)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a missing file and a folder are told apart`() async throws {
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
