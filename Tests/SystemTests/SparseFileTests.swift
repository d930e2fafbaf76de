import Foundation
import Media
import System
import TestSupport
import Testing

@Suite struct SparseFileTests {
    @Test func `holes are what was never written, before and behind the end`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("", to: "sparse")
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 65_536)
        for offset in [0, 262_144] {
            try #require(pwrite(descriptor, block, block.count, off_t(offset)) == block.count)
        }
        func holes(_ range: ByteRange) -> [ByteRange] {
            SparseFile.holes(in: range, of: descriptor).ranges.map { $0 }
        }
        #expect(holes(0..<400_000) == [65_536..<262_144, 327_680..<400_000])
        #expect(holes(100_000..<200_000) == [100_000..<200_000])
        #expect(holes(10..<65_000) == [])
        #expect(holes(500_000..<600_000) == [500_000..<600_000])
        #expect(holes(7..<7) == [])
    }
}
