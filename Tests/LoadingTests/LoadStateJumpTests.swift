import Media
import Testing

@testable import Loading

/// Jumps in a resource without validators, whose bytes are cached once compared windows reach them.
@Suite struct LoadStateJumpTests {
    private static func stage(_ stored: ByteRange..., length: Int64? = 500_000) -> LoadStateStage {
        LoadStateStage(length: length, stored: stored, validators: Validators())
    }

    @Test func `bytes of a jump may be cached once a compared window reaches them`() throws {
        var stage = Self.stage(0..<65_536)
        #expect(stage.proven == nil)
        let jump = try stage.read(100_000).plan()
        #expect(jump.overlap.isEmpty)
        stage.answerPart(jump)
        #expect(stage.proven == ByteRangeSet(0..<65_536), "before the first byte of the jump")
        stage.complete(jump)
        #expect(stage.proven == ByteRangeSet(0..<65_536))
        let between = try stage.read(65_536).plan()
        #expect(between.asked == 61_440..<100_000)
        stage.answerPart(between)
        stage.store(61_440..<90_000, between)
        #expect(stage.proven == ByteRangeSet(0..<90_000))
        stage.store(90_000..<100_000, between)
        #expect(stage.proven == nil)
    }

    @Test func `windows that are compared with the bytes of the jump alone prove nothing`() throws {
        var stage = Self.stage(0..<65_536)
        stage.complete(try stage.read(300_000).plan())
        let next = try stage.read(stage.stored.ranges[1].upperBound).plan()
        #expect(!next.overlap.isEmpty)
        stage.complete(next)
        #expect(stage.proven == ByteRangeSet(0..<65_536))
    }

    @Test func `the body of the whole file proves what it has reached`() throws {
        var stage = Self.stage(100_000..<165_536)
        stage.complete(try stage.read(300_000).plan())
        let whole = try stage.read(0).plan()
        #expect(stage.answer(whole, .whole(500_000, etag: nil)).comparesStored)
        stage.store(0..<60_000, whole)
        #expect(stage.proven == ByteRangeSet(100_000..<165_536))
        stage.store(60_000..<200_000, whole)
        #expect(stage.proven == ByteRangeSet(0..<200_000))
        stage.store(200_000..<300_000, whole)
        #expect(stage.proven == stage.stored)
    }

    @Test func `of two bodies that begin together, the first byte decides`() throws {
        var stage = Self.stage(length: nil)
        let first = try stage.read(0).plan()
        let second = try stage.read(300_000, by: stage.open()).plan()
        stage.answerPart(first, of: 500_000)
        stage.answerPart(second, of: 500_000)
        #expect(stage.proven == ByteRangeSet())
        stage.store(300_000..<310_000, second)
        stage.store(0..<65_536, first)
        #expect(stage.proven == ByteRangeSet(300_000..<310_000))
    }

    @Test func `while there are validators all bytes may be cached, until an answer lacks them`() throws {
        var stage = LoadStateStage(length: 500_000, stored: [0..<65_536])
        let first = try stage.read(200_000).plan()
        stage.complete(first)
        #expect(stage.proven == nil)
        let known = stage.stored
        let second = try stage.read(400_000).plan()
        stage.answer(second, .part(second.asked ?? 0..<0, of: 500_000, etag: nil))
        #expect(stage.proven == known, "before the first byte of the jump")
        stage.store(400_000..<410_000, second)
        #expect(stage.proven == known)
    }
}
