import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct FLACSeekTests {
    /// The bytes of a frame: loud, nearly silent, and in between, in every order.
    private static let thirds = [
        [11_000, 600, 6_000], [600, 6_000, 11_000], [11_000, 6_000, 600], [6_000, 600, 11_000],
        [6_000, 11_000, 600], [600, 11_000, 6_000],
    ]

    /// A piece whose rate changes every few seconds, between half and all of the largest.
    private static func lively(seconds: Int, seed: UInt64) throws -> SimulatedFLAC {
        var random = SeededGenerator(seed: seed)
        let levels = (0..<seconds / 3).map { _ in Int.random(in: 5_000...11_000, using: &random) }
        return try SimulatedFLAC(seconds: seconds, seed: seed) { levels[Int($0 * Double(levels.count))] }
    }

    /// The points that encoders state: one for every ten seconds.
    private static func points(of music: SimulatedFLAC) -> [PlaceTable.Place] {
        stride(from: 0, to: music.places.count, by: 108).map { music.places[$0] }
    }

    private static func map(of music: SimulatedFLAC, points: [PlaceTable.Place] = []) -> FLACMap {
        FLACMap(
            music.stream,
            audioStart: SimulatedFLAC.audioStart,
            audioEnd: music.length,
            seekPoints: points
        )
    }

    /// The requests of `count` seeded seeks, each of which must land before its target and near it.
    private func requests(_ music: SimulatedFLAC, _ map: FLACMap, count: Int = 400) throws -> [Int] {
        var random = SeededGenerator(seed: 4)
        return try (0..<count).map { _ in
            let target = FrameCount.random(in: 0..<(music.stream.frameCount ?? 1), using: &random)
            let (landing, requests, _) = music.seek(to: target, in: map)
            let landed = try #require(landing)
            #expect(landed.isNear && landed.place.position <= target)
            #expect(music.places[Int(landed.place.position / 4_096)] == landed.place)
            return requests
        }.sorted()
    }

    @Test func `without a table a song of five minutes takes at most three requests`() throws {
        for seed in 0..<4 as Range<UInt64> {
            let music = try Self.lively(seconds: 300, seed: seed)
            let counts = try requests(music, Self.map(of: music))
            #expect(counts[counts.count * 99 / 100 - 1] <= 3 && counts.last ?? .max <= 4, "\(seed)")
        }
    }

    @Test
    func `with a point every ten seconds nearly every seek in a song of five minutes takes one request`()
        throws
    {
        for seed in 0..<4 as Range<UInt64> {
            let music = try Self.lively(seconds: 300, seed: seed)
            let counts = try requests(music, Self.map(of: music, points: Self.points(of: music)))
            #expect(counts[counts.count * 9 / 10 - 1] == 1, "\(seed)")
            #expect(counts[counts.count * 99 / 100 - 1] <= 2 && counts.last ?? .max <= 3, "\(seed)")
            // Of a steady song, every one.
            let steady = try SimulatedFLAC(seconds: 300, seed: seed) { _ in 9_000 }
            #expect(try requests(steady, Self.map(of: steady, points: Self.points(of: steady))).last == 1)
        }
    }

    @Test(arguments: thirds)
    func `without a table an hour in thirds takes eight requests in 99 of 100 seeks, and never more than 12`(
        levels: [Int]
    ) throws {
        let music = try SimulatedFLAC(seconds: 3_600, seed: 1) { levels[min(2, Int($0 * 3))] }
        let counts = try requests(music, Self.map(of: music))
        #expect(counts[counts.count * 99 / 100 - 1] <= 8)
        #expect(counts.last ?? .max <= 12)
    }

    @Test(arguments: thirds)
    func `with a point every ten seconds an hour in thirds takes at most two requests`(levels: [Int]) throws {
        let music = try SimulatedFLAC(seconds: 3_600, seed: 2) { levels[min(2, Int($0 * 3))] }
        let counts = try requests(music, Self.map(of: music, points: Self.points(of: music)))
        #expect(counts.last ?? .max <= 2)
        #expect(counts[counts.count * 9 / 10] == 1)
    }

    @Test func `places that an earlier seek found save requests`() throws {
        let levels = Self.thirds[0]
        let music = try SimulatedFLAC(seconds: 3_600, seed: 3) { levels[min(2, Int($0 * 3))] }
        var map = Self.map(of: music)
        let before = try requests(music, map, count: 50).reduce(0, +)
        for position in stride(from: FrameCount(0), to: 158_000_000, by: 3_000_000) {
            let found = music.seek(to: position, in: map).seek.map
            map = Self.map(of: music)
            map.restore(found.stored())
        }
        #expect(try requests(music, map, count: 50).reduce(0, +) < before * 2 / 3)
    }

    @Test func `a table whose places are wrong costs a few requests and no exactness`() throws {
        let music = try SimulatedFLAC(seconds: 300, seed: 5) { _ in 9_000 }
        let points = Self.points(of: music).map { place in
            PlaceTable.Place(position: place.position, offset: place.offset * 2 / 3 + 5_000)
        }
        #expect(try requests(music, Self.map(of: music, points: points)).last ?? .max <= 8)
    }

    /// Rates that rise from nothing to the most are the worst for interpolation.
    @Test(arguments: [1.0, 4.0, 16.0])
    func `never more than twelve reads are made, whatever the rates`(power: Double) throws {
        let music = try SimulatedFLAC(seconds: 3_600, seed: 6) { share in
            var value = 1.0
            for _ in 0..<Int(power) { value *= share }
            return 20 + Int(value * 16_000)
        }
        #expect(try requests(music, Self.map(of: music), count: 100).last ?? .max <= 12)
    }

    @Test func `without frames the seek ends after twelve reads`() throws {
        let music = try SimulatedFLAC(seconds: 3_600, seed: 7) { _ in 9_000 }
        var seek = FLACSeek(to: 50_000_000, in: Self.map(of: music))
        var reads = 0
        while let wanted = seek.wanted {
            reads += 1
            seek.took([UInt8](repeating: 0, count: wanted.count), isWhole: false)
        }
        #expect(reads <= FLACSeek.mostReads)
        #expect(seek.landing?.place.offset == SimulatedFLAC.audioStart)
    }
}
