import Media
import TestSupport
import Testing

@Suite
struct ByteRangeTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `the helpers agree with a plain set of offsets`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = ByteRangeSet()
        var model = Set<Int64>()
        for _ in 0..<30 {
            let start = Int64.random(in: 0..<120, using: &random)
            let range = start..<start + Int64.random(in: 0...20, using: &random)
            if Bool.random(using: &random) || model.count < 40 {
                set.insert(contentsOf: range)
                model.formUnion(range)
            } else {
                set.remove(contentsOf: range)
                model.subtract(range)
            }
            let low = Int64.random(in: 0..<150, using: &random)
            let asked = low..<low + Int64.random(in: 0...40, using: &random)
            let gaps = set.gaps(in: asked)
            #expect(Set(gaps.joined()) == Set(asked).subtracting(model))
            #expect(
                gaps.allSatisfy { !$0.isEmpty } && gaps.map(\.lowerBound) == gaps.map(\.lowerBound).sorted()
            )
            #expect(set.covers(asked) == asked.allSatisfy { model.contains($0) })
            var end = low
            while model.contains(end) { end += 1 }
            #expect(set.run(from: low) == (end > low ? low..<end : nil))
            #expect(set.byteCount == Int64(model.count))
        }
    }
}
