import Media
import Testing

@testable import Loading

/// Jumps in a resource without validators, whose bytes are compared afterwards.
@Suite struct LoadStateJumpTests {
    private static func stage(_ stored: ByteRange..., length: Int64? = 500_000) -> LoadStateStage {
        LoadStateStage(length: length, stored: stored, validators: Validators())
    }

    @Test func `bytes of a jump may be cached once a window behind the older bytes was compared`() throws {
        var stage = Self.stage(0..<65_536)
        #expect(stage.proven == nil)
        let jump = try stage.read(300_000).plan()
        #expect(stage.proven == ByteRangeSet(0..<65_536), "before the first byte of the jump")
        let comparison = try stage.complete(jump).plan()
        #expect(comparison.overlap == 61_440..<65_536)
        stage.answerPart(comparison)
        stage.store(61_440..<65_536, comparison)
        #expect(stage.proven == ByteRangeSet(0..<65_536), "so far only the overlap has arrived")
        stage.store(65_536..<70_000, comparison)
        #expect(stage.proven == nil)
    }

    @Test func `a window that was requested before the jump proves only its own bytes`() throws {
        var stage = Self.stage(0..<65_536)
        let earlier = try stage.read(65_536).plan()
        stage.read(300_000, by: stage.open())
        stage.complete(earlier)
        #expect(stage.proven == ByteRangeSet(0..<131_072))
    }

    @Test func `a window that was requested between two jumps does not prove the second`() throws {
        var stage = Self.stage(0..<65_536)
        let comparison = try stage.complete(stage.read(150_000).plan()).plan()
        let second = try stage.read(300_000, by: stage.open()).plan()
        stage.complete(second)
        stage.complete(comparison)
        #expect(stage.proven?.contains(300_000) == false)
    }

    @Test func `if nothing is missing behind the older bytes, the bytes of the jump may be cached`() throws {
        var stage = Self.stage(0..<65_536, length: 196_608)
        let earlier = try stage.read(65_536).plan()
        let jump = try stage.read(131_072, by: stage.open()).plan()
        #expect(jump.overlap.isEmpty)
        stage.complete(jump)
        #expect(stage.proven == ByteRangeSet(0..<65_536))
        stage.complete(earlier)
        #expect(stage.isComplete && stage.proven == nil)
    }

    @Test func `the body of the whole file proves what lies before and what it has reached`() throws {
        var stage = Self.stage(0..<65_536)
        let jump = try stage.read(300_000).plan()
        let comparison = try stage.complete(jump).plan()
        #expect(stage.answer(comparison, .whole(500_000, etag: nil)).comparesStored)
        stage.store(0..<65_536, comparison)
        stage.store(65_536..<200_000, comparison)
        #expect(stage.proven == ByteRangeSet(0..<200_000))
        stage.store(200_000..<370_000, comparison)
        #expect(stage.proven == nil)
    }

    @Test func `bytes beside a body that began to arrive are held back, unless it brings none`() throws {
        var stage = Self.stage(length: nil)
        let first = try stage.read(0).plan()
        let second = try stage.read(300_000, by: stage.open()).plan()
        stage.answerPart(first, of: 500_000)
        stage.answerPart(second, of: 500_000)
        #expect(stage.proven == ByteRangeSet())
        stage.store(300_000..<310_000, second)
        #expect(stage.proven == ByteRangeSet())
        stage.end(first, .cut)
        #expect(stage.proven == nil, "there is nothing else")
        let back = try stage.store(310_000..<365_536, second).plan()
        #expect(back.wanted?.lowerBound == 0 && stage.proven == ByteRangeSet(300_000..<365_536))
    }

    @Test func `older bytes behind the stated length are not compared`() throws {
        var stage = Self.stage(0..<65_536, 300_000..<400_000, length: nil)
        let jump = try stage.read(150_000).plan()
        let comparison = try stage.complete(jump, of: 250_000).plan()
        #expect(comparison.overlap == 61_440..<65_536)
    }
}
