import Media
import System
import TestSupport
import Testing

@testable import Segments

@Suite struct DecryptedSourceTests {
    /// Not AES, but chained like it: each block is added to the one before it.
    private static let decrypt: SegmentParts.Decrypt = { blocks, key, vector in
        var before = vector
        var plain: [UInt8] = []
        for start in stride(from: blocks.startIndex, to: blocks.endIndex, by: 16) {
            let block = Array(blocks[start..<start + 16])
            plain += zip(block, before).map { $0 &- $1 &- key[0] }
            before = block
        }
        return plain
    }

    private static func encrypted(_ plain: [UInt8], isPadded: Bool = true) -> [UInt8] {
        let padding = isPadded ? 16 - plain.count % 16 : 0
        let whole = plain + [UInt8](repeating: UInt8(padding), count: padding)
        var before = vector
        var cipher: [UInt8] = []
        for start in stride(from: 0, to: whole.count, by: 16) {
            before = zip(whole[start..<start + 16], before).map { $0 &+ $1 &+ key[0] }
            cipher += before
        }
        return cipher
    }

    private static let key = [UInt8](repeating: 7, count: 16)
    private static let vector = [UInt8](1...16)

    private func source(_ cipher: [UInt8]) -> DecryptedSource {
        let reader = FakeWeb(["/a": cipher]).open(FakeWeb.location("/a"))
        return DecryptedSource(reader, key: Self.key, vector: Self.vector, decrypt: Self.decrypt)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1_000, 30_000])
    func `all bytes are those that were encrypted, and the padding is none of them`(count: Int) async throws {
        let plain = ByteFixtures.bytes(count: count, seed: 1)
        let source = source(Self.encrypted(plain))
        #expect(try await source.allBytes(atMost: 100_000, of: "a") == plain)
        #expect(source.length == Int64(count))
    }

    @Test(arguments: 0..<UInt64(50))
    func `a read may begin anywhere`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let plain = ByteFixtures.bytes(count: Int.random(in: 1...50_000, using: &random), seed: seed)
        let source = source(Self.encrypted(plain))
        for _ in 0..<20 {
            let offset = Int.random(in: 0..<plain.count + 40, using: &random)
            let count = Int.random(in: 1...20_000, using: &random)
            let bytes = try await source.read(at: Int64(offset), count: count)
            #expect(bytes.elementsEqual(plain.dropFirst(offset).prefix(bytes.count)))
            #expect(bytes.isEmpty == (offset >= plain.count) && bytes.count <= count)
        }
    }

    @Test func `a segment that is cut within a block has the blocks before`() async throws {
        let plain = ByteFixtures.bytes(count: 160, seed: 2)
        let source = source(Array(Self.encrypted(plain).prefix(100)))
        #expect(try await source.allBytes(atMost: 1_000, of: "a") == Array(plain[..<96]))
    }

    @Test func `padding that is none is passed on`() async throws {
        let plain = [UInt8](repeating: 0, count: 32)
        let source = source(Self.encrypted(plain, isPadded: false))
        #expect(try await source.allBytes(atMost: 1_000, of: "a") == plain)
    }
}
