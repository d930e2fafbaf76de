import Foundation
import Media
import TestSupport
import Testing

@testable import Loading

/// What every `ByteSource` promises, checked on local files and on web resources alike.
@Suite struct ByteSourceContractTests {
    enum Kind: CaseIterable, Sendable {
        case file
        case cached
        case web
        case webWithoutRanges
    }

    private static let length = 300_000
    private let music = content(300_000)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Opens sources of `music`, as often as it is called.
    private func opener(_ kind: Kind) throws -> @Sendable () async throws -> any ResourceReader {
        let stores = MemoryStores(music, kind == .cached ? [0..<Int64(Self.length)] : [])
        let server = MemoryServer(.init(content: music, hasRanges: kind != .webWithoutRanges))
        let loaders = Loaders(transport: server, stores: stores, clock: TestClock())
        let path = folder.path("song.mp3")
        if kind == .file { try Data(music).write(to: URL(fileURLWithPath: path)) }
        let location: ResourceLocation = kind == .file ? .file(path) : .web(songURL)
        return { try await loaders.open(location) }
    }

    @Test(arguments: Kind.allCases)
    func `a read brings the bytes from its offset on, and at least one`(kind: Kind) async throws {
        let source = try await opener(kind)()
        for offset in [0, 1, 65_535, 200_000, 299_999, 7] {
            let bytes = try await source.read(at: Int64(offset), count: 9_000)
            #expect(!bytes.isEmpty && bytes.elementsEqual(music[offset...].prefix(bytes.count)))
        }
        #expect(try await readAll(source, count: 7_000) == music)
        #expect(source.length == Int64(Self.length))
        await source.close()
    }

    @Test(arguments: Kind.allCases)
    func `reads at the end and past it are empty`(kind: Kind) async throws {
        let source = try await opener(kind)()
        for offset in [Int64(Self.length), Int64(Self.length) + 1, 1 << 40] {
            #expect(try await source.read(at: offset, count: 10).isEmpty)
        }
        await source.close()
    }

    @Test(arguments: Kind.allCases)
    func `what was read is stored, and can be read without the network`(kind: Kind) async throws {
        let source = try await opener(kind)()
        #expect(try await readAll(source) == music)
        #expect(source.isStored(0..<Int64(Self.length)))
        let stored = try await source.readStored(at: 299_000, count: 5_000)
        #expect(!stored.isEmpty && stored.elementsEqual(music[299_000...].prefix(stored.count)))
        #expect(try await source.readStored(at: Int64(Self.length), count: 10).isEmpty)
        await source.close()
    }

    @Test(arguments: Kind.allCases)
    func `a read of a cancelled task throws, and the next one reads on`(kind: Kind) async throws {
        let source = try await opener(kind)()
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await source.read(at: 0, count: 10)
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(try await readAll(source) == music)
        await source.close()
    }

    @Test(arguments: Kind.allCases)
    func `opened again it returns the same bytes`(kind: Kind) async throws {
        let open = try opener(kind)
        for _ in 0..<2 {
            let source = try await open()
            #expect(try await readAll(source) == music)
            await source.close()
        }
    }
}
