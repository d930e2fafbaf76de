import Foundation
import TestSupport
import Testing

/// The detection of tones.
@Suite struct ToneAnalysisTests {
    private func sine(_ frequency: Double, count: Int, rate: Double = 44_100, loudness: Double = 8_000)
        -> [Int16]
    {
        (0..<count).map { Int16(loudness * sin(2 * Double.pi * frequency * Double($0) / rate)) }
    }

    @Test(arguments: [0, 1, 29, 58, 59])
    func `fifty milliseconds of its tone tell the second`(second: Int) {
        let samples = sine(ToneAnalysis.frequency(ofSecond: second), count: 2_205)
        #expect(ToneAnalysis.second(of: samples[...], sampleRate: 44_100) == second)
    }

    @Test func `a minute later the tone is the same`() {
        #expect(ToneAnalysis.frequency(ofSecond: 61) == ToneAnalysis.frequency(ofSecond: 1))
    }

    @Test func `silence and noise tell no second`() {
        #expect(ToneAnalysis.second(of: [Int16](repeating: 0, count: 4_410)[...], sampleRate: 44_100) == nil)
        let noise = PCM.samples(ByteFixtures.bytes(count: 8_820, seed: 3))
        #expect(ToneAnalysis.second(of: noise[...], sampleRate: 44_100) == nil)
        #expect(ToneAnalysis.second(of: [], sampleRate: 44_100) == nil)
    }

    @Test func `samples and bytes are one another's inverse`() {
        let samples: [Int16] = [0, 1, -1, .max, .min, 258]
        #expect(PCM.bytes(samples) == [0, 0, 1, 0, 255, 255, 255, 127, 0, 128, 2, 1])
        #expect(PCM.samples(PCM.bytes(samples)) == samples)
        #expect(PCM.channel(1, of: samples, channels: 2) == [1, .max, 258])
    }

    @Test func `a longer run of seeded bytes begins with the shorter one`() {
        let long = ByteFixtures.bytes(count: 1_003, seed: 9)
        #expect(long.count == 1_003)
        #expect(ByteFixtures.bytes(count: 13, seed: 9) == Array(long.prefix(13)))
        #expect(ByteFixtures.bytes(count: 13, seed: 8) != Array(long.prefix(13)))
    }

    @Test(arguments: [
        MP3Fixtures.Options(seconds: 3),
        MP3Fixtures.Options(
            seconds: 3,
            rate: .variable(quality: 5, hasXing: false),
            sampleRate: 22_050,
            isMono: true
        ),
    ])
    func `a made MP3 file tells its seconds when the reference decoder plays it`(
        options: MP3Fixtures.Options
    ) async throws {
        let path = try await MP3Fixtures.file(options)
        let samples = PCM.samples(try await MP3Fixtures.referencePCM(of: path))
        // mpg123 -s plays mono as it is.
        let left = PCM.channel(0, of: samples, channels: options.isMono ? 1 : 2)
        for second in 0..<3 {
            let middle = second * options.sampleRate + options.sampleRate / 2
            let window = left[middle..<middle + options.sampleRate / 20]
            #expect(ToneAnalysis.second(of: window, sampleRate: Double(options.sampleRate)) == second)
        }
    }
}
