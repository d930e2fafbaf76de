import Media
import TestSupport

/// Arbitrary pieces of a file, as earlier sessions may have left them; equal seeds give equal pieces.
enum CachePattern {
    static func pieces(of length: Int64, seed: UInt64) -> ByteRangeSet {
        var random = SeededGenerator(seed: seed)
        var pieces = ByteRangeSet()
        for _ in 0..<Int.random(in: 1...9, using: &random) {
            let lengths: [Int64] = [1, 700, 30_000, 200_000, length / 3]
            let longest = lengths.randomElement(using: &random) ?? 1
            let start = Int64.random(in: 0..<length, using: &random)
            let end = min(length, start + Int64.random(in: 1...max(1, longest), using: &random))
            // Sessions leave whole blocks mostly; what else came is whatever a cut left.
            let isWholeBlocks = Bool.random(using: &random)
            let block = Int64(64 * 1024)
            pieces.insert(contentsOf: isWholeBlocks ? start / block * block..<end : start..<end)
        }
        switch seed % 5 {
        // What no session forgets, or what one has just forgotten.
        case 0: pieces.insert(contentsOf: 0..<64 * 1024)
        case 1: pieces.remove(contentsOf: 0..<1)
        case 2: pieces.insert(contentsOf: length - 128..<length)
        // Holes of single bytes in a file that is there but for them.
        case 3:
            pieces = ByteRangeSet(0..<length)
            for _ in 0..<6 {
                let hole = Int64.random(in: 0..<length, using: &random)
                pieces.remove(contentsOf: hole..<hole + 1)
            }
        default: break
        }
        return pieces
    }
}
