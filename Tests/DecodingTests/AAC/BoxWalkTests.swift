import Media
import Testing

@testable import Decoding

@Suite struct BoxWalkTests {
    private func box(_ name: String, _ content: [UInt8], size: UInt32? = nil) -> [UInt8] {
        let size = size ?? UInt32(8 + content.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(name.utf8) + content
    }

    private func boxes(in bytes: [UInt8]) -> [Box] {
        var walk = BoxWalk(in: 0..<BoxWalk.farthest)
        var found: [Box] = []
        while let range = walk.wanted {
            let end = min(Int(range.upperBound), bytes.count)
            guard let box = walk.took(bytes[min(Int(range.lowerBound), end)..<end]) else { break }
            found.append(box)
        }
        return found
    }

    @Test func `boxes have sizes of 32 and 64 bits, or none`() {
        let large: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 20, 1, 2, 3, 4]
        let found = boxes(in: box("ftyp", [1, 2]) + large + box("moov", [], size: 0) + [1, 2, 3])
        #expect(found.map(\.name) == ["ftyp", "mdat", "moov"])
        #expect(found.map(\.content) == [8..<10, 26..<30, 38..<BoxWalk.farthest])
    }

    @Test func `a size that is too small ends the walk, and one of exabytes costs nothing`() {
        #expect(boxes(in: box("ftyp", [], size: 7)).isEmpty)
        let huge: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [0x7F] + [UInt8](repeating: 255, count: 7)
        #expect(boxes(in: huge).map(\.content) == [16..<BoxWalk.farthest])
        let negative: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 255, count: 8)
        #expect(boxes(in: negative).isEmpty)
    }

    @Test func `the number of boxes and their depth are bounded`() {
        let many = (0..<BoxWalk.mostBoxes + 10).flatMap { _ in box("free", []) }
        #expect(boxes(in: many).count == BoxWalk.mostBoxes)
        var walk = BoxWalk(in: 0..<1_000_000)
        for _ in 0..<100 {
            guard let range = walk.wanted,
                let found = walk.took(box("moov", [], size: 900_000).prefix(range.count))
            else {
                break
            }
            walk.enter(found)
        }
        var depth = 0
        while walk.leave() { depth += 1 }
        #expect(depth == BoxWalk.mostDepth - 1)
    }

    @Test func `a chunk's packets are found by the runs of chunks`() {
        var table = SampleTable()
        table.packetCount = 100
        func numbers(_ values: [UInt32]) -> [UInt8] {
            values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        }
        table.parseRuns(numbers([0, 3, 1, 10, 1, 3, 7, 1, 5, 20, 1]))
        #expect(table.runs.map(\.firstPacket) == [0, 20, 34])
        #expect(table.chunk(of: 0)?.chunk == 0 && table.chunk(of: 0)?.packets == 0..<10)
        #expect(table.chunk(of: 19)?.chunk == 1 && table.chunk(of: 27)?.packets == 27..<34)
        #expect(table.chunk(of: 99)?.chunk == 7 && table.chunk(of: 99)?.packets == 94..<100)
        #expect(table.chunk(of: 100) == nil)
    }
}
