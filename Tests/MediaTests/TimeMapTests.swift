import Media
import TestSupport
import Testing

@Suite struct TimeMapTests {
    @Test func `without a table, bytes are evenly spread from the first audio byte on`() throws {
        let map = try #require(TimeMap(duration: .seconds(100), audio: 1_000..<2_000))
        #expect([0, 1, 50, 100].map { map.offset(at: .seconds($0)) } == [1_000, 1_010, 1_500, 2_000])
        #expect([1_000, 1_010, 1_500, 2_000].map { map.time(at: $0).seconds.rounded() } == [0, 1, 50, 100])
    }

    @Test func `bytes and times outside the music are at its ends`() throws {
        let map = try #require(TimeMap(duration: .seconds(100), audio: 1_000..<2_000))
        #expect(map.time(at: 0) == .zero && map.time(at: 999) == .zero && map.time(at: -5) == .zero)
        #expect(map.time(at: 2_001) == .seconds(100) && map.time(at: .max) == .seconds(100))
        #expect(map.offset(at: .seconds(-1)) == 1_000 && map.offset(at: .seconds(101)) == 2_000)
    }

    @Test func `each step has its own rate`() throws {
        let map = try #require(TimeMap(duration: .seconds(30), offsets: [500, 600, 2_600, 2_700]))
        #expect([5, 10, 15, 25].map { map.offset(at: .seconds($0)) } == [550, 600, 1_600, 2_650])
        #expect([550, 600, 1_600, 2_650].map { map.time(at: $0).seconds.rounded() } == [5, 10, 15, 25])
    }

    @Test(
        arguments: [
            (.zero, [0, 10]), (.seconds(-1), [0, 10]), (.seconds(1), []), (.seconds(1), [5]),
            (.seconds(1), [5, 5]),
            (.seconds(1), [9, 3]),
        ] as [(Duration, [Int64])]
    )
    func `there is no map without music`(duration: Duration, offsets: [Int64]) {
        #expect(TimeMap(duration: duration, offsets: offsets) == nil)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `both directions rise and agree, whatever a table states`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let most: Int64 = seed % 5 == 0 ? .max : 100_000
        let offsets = (0..<Int.random(in: 2...300, using: &random)).map { _ in
            Int64.random(in: (seed % 3 == 0 ? -most : 0)...most, using: &random)
        }
        let sorted = seed % 2 == 0 ? offsets.sorted() : offsets
        let duration = Duration.milliseconds(Int.random(in: 1...10_000_000, using: &random))
        guard let map = TimeMap(duration: duration, offsets: sorted) else { return }
        var last = (offset: Int64.min, time: Duration.zero)
        for step in 0...97 {
            let offset = map.offset(at: duration * Double(step) / 97)
            #expect(offset >= last.offset && map.audio.lowerBound...map.audio.upperBound ~= offset)
            let time = map.time(at: offset)
            #expect(time >= last.time && time >= .zero && time <= duration)
            // Back to the same byte, but for rounding.
            let again = map.offset(at: time)
            let tolerance = 2 + Double(map.audio.upperBound) * 1e-9
            #expect(
                Double(again) <= Double(offset) + tolerance && Double(offset) <= Double(again) + tolerance
            )
            last = (offset, time)
        }
    }

    @Test func `a map is near another one until a step differs`() throws {
        let map = try #require(TimeMap(duration: .seconds(30), audio: 0..<256_000))
        let refined = try #require(TimeMap(duration: .seconds(30), offsets: [0, 128_900, 256_000]))
        let other = try #require(TimeMap(duration: .seconds(30), offsets: [0, 130_000, 256_000]))
        #expect(map.isNear(refined) && refined.isNear(map) && !map.isNear(other))
        #expect(map.stretched(to: .seconds(60))?.offset(at: .seconds(30)) == 128_000)
    }
}
