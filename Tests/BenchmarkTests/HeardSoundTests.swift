import Glibc
import TestSupport
import Testing

@testable import Benchmarks

/// Recorded sound: tones whose pitch identifies the second, and silence.
struct HeardSoundTests {
    /// A shortened second with enough windows for the tests.
    private static let second = 4 * HeardSound.window

    /// `count` samples of the tone of `second`, or of silence.
    private static func sound(_ second: Int?, _ count: Int) -> [Int16] {
        guard let second else { return [Int16](repeating: 0, count: count) }
        let step = 2 * Double.pi * ToneAnalysis.frequency(ofSecond: second) / Ear.sampleRate
        return (0..<count).map { Int16(8_000 * cos(step * Double($0))) }
    }

    @Test func `sound begins with the first sample that can be heard`() {
        let heard = Self.sound(nil, 1_000) + [3, -3] + Self.sound(0, 100)
        #expect(HeardSound.onset(in: heard[...], from: 0) == 1_002)
        #expect(HeardSound.onset(in: heard[...], from: 1_050) == 1_050)
        #expect(HeardSound.onset(in: heard[..<1_002], from: 0) == nil)
        #expect(HeardSound.onset(in: heard[...], from: 5_000) == nil)
    }

    @Test func `a tone out of silence begins exactly where it begins`() {
        let heard = Self.sound(3, Self.second) + Self.sound(nil, 10_000) + Self.sound(10, Self.second)
        #expect(HeardSound.onset(of: [10, 11], in: heard[...], from: Self.second) == Self.second + 10_000)
    }

    @Test func `a tone behind another begins within half a window of where it begins`() throws {
        let heard = Self.sound(3, Self.second) + Self.sound(10, Self.second)
        let found = try #require(HeardSound.onset(of: [10], in: heard[...], from: Self.second / 2))
        #expect(abs(found - Self.second) <= HeardSound.window / 2)
    }

    @Test func `another tone than those asked for is not taken for one`() {
        let heard = Self.sound(3, Self.second)
        #expect(HeardSound.onset(of: [2, 4, 43], in: heard[...], from: 0) == nil)
    }

    @Test func `silences are found where they last, and zeros of a tone are none`() {
        let heard =
            Self.sound(1, 5_000) + Self.sound(nil, 300) + Self.sound(1, 5_000) + Self.sound(nil, 100)
            + Self.sound(1, 500) + Self.sound(nil, 900)
        #expect(HeardSound.silences(in: heard[...]) == [5_000..<5_300, 10_900..<11_800])
    }

    @Test func `the seconds are in the order heard`() {
        let heard = [0, 1, 2, 0].flatMap { Self.sound($0, Self.second) }
        #expect(ToneAnalysis.seconds(in: heard[...]) == [0, 1, 2, 0])
    }
}
