import Foundation
import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct PictureMakerTests {
    /// Pictures of a sine, each channel with its own loudness, as a part of full scale.
    private func pictures(
        _ frequency: Double,
        _ loudness: [Double],
        sampleRate: Int = 44_100,
        seconds: Double = 0.5
    ) -> [(picture: SoundPicture, frame: FrameCount)] {
        let format = AudioFormat(sampleRate: sampleRate, channelCount: loudness.count)
        var maker = PictureMaker(format: format)
        var samples: [Int16] = []
        for frame in 0..<Int(Double(sampleRate) * seconds) {
            let value = sin(2 * Double.pi * frequency * Double(frame) / Double(sampleRate))
            samples += loudness.map { Int16(value * $0 * 32_767) }
        }
        var made: [(SoundPicture, FrameCount)] = []
        samples.withUnsafeBytes { samples in maker.add(samples, at: 1_000) { made.append(($0, $1)) } }
        return made
    }

    /// The band of `frequency`, computed in another way: all bands are equally wide in pitch.
    private func band(of frequency: Double) -> Int {
        let range = PictureMaker.frequencies
        let part = log(frequency / range.lowerBound) / log(range.upperBound / range.lowerBound)
        return Int(part * Double(PictureMaker.bandCount))
    }

    @Test(arguments: [(1_000, 44_100), (1_000, 48_000), (1_000, 32_000), (6_000, 44_100), (250, 44_100)])
    func `a tone lights its own band most, and leaves far ones dark`(frequency: Int, rate: Int) throws {
        let made = pictures(Double(frequency), [1, 1], sampleRate: rate)
        #expect(made.count == 10)
        let expected = band(of: Double(frequency))
        for picture in made.map(\.picture) {
            let brightest = try #require(picture.bands.indices.max { picture.bands[$0] < picture.bands[$1] })
            #expect(abs(brightest - expected) <= 1)
            #expect(picture.bands[brightest] > 0.93 && picture.bands[brightest] <= 1)
            for (band, level) in picture.bands.enumerated() where abs(band - expected) > 4 {
                #expect(level < 0.1, "band \(band)")
            }
        }
    }

    @Test func `ten decibels less is a sixth of the height less`() throws {
        let loud = try #require(pictures(1_000, [1]).last?.picture)
        let soft = try #require(pictures(1_000, [pow(10, -0.5)]).last?.picture)
        let band = band(of: 1_000)
        #expect(abs(loud.bands[band] - soft.bands[band] - 1.0 / 6) < 0.01)
    }

    @Test func `peak and mean are those of each channel`() throws {
        let picture = try #require(pictures(1_000, [0.8, 0.2]).last?.picture)
        #expect(picture.levels.count == 2)
        for (level, loudness) in zip(picture.levels, [0.8, 0.2] as [Float]) {
            #expect(abs(level.peak - loudness) < 0.01)
            #expect(abs(level.rms - loudness / Float(2).squareRoot()) < 0.01)
        }
    }

    @Test func `samples of every kind give the same pictures`() {
        let values = (0..<2_205).map { Float($0 % 441) / 441 - 0.5 }
        func pictures<Sample>(_ sample: SampleFormat, _ convert: (Float) -> Sample) -> [SoundPicture] {
            let format = AudioFormat(sampleRate: 44_100, channelCount: 1, sample: sample)
            var maker = PictureMaker(format: format)
            var made: [SoundPicture] = []
            values.map(convert).withUnsafeBytes {
                maker.add($0, at: 0) { picture, _ in made.append(picture) }
            }
            return made
        }
        let plain = pictures(.s16) { Int16($0 * 0x7FFF) }
        #expect(plain.count == 1)
        for other in [pictures(.s32) { Int32($0 * 0x7FFF_FF00) }, pictures(.f32) { $0 }] {
            for (left, right) in zip(plain[0].bands, other[0].bands) { #expect(abs(left - right) < 0.02) }
            #expect(abs(plain[0].levels[0].rms - other[0].levels[0].rms) < 0.001)
        }
    }

    @Test func `twenty pictures a second follow each other without a gap, however the samples come`() {
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        var random = SeededGenerator(seed: 5)
        let samples = (0..<88_200).map { _ in Int16.random(in: .min ... .max, using: &random) }
        var whole: [SoundPicture] = []
        var maker = PictureMaker(format: format)
        samples.withUnsafeBytes { maker.add($0, at: 0) { picture, _ in whole.append(picture) } }
        #expect(whole.count == 20)
        var pieces: [SoundPicture] = []
        var starts: [FrameCount] = []
        maker.restart()
        var start = 0
        while start < samples.count {
            let end = min(samples.count, start + 2 * Int.random(in: 1...5_000, using: &random))
            Array(samples[start..<end]).withUnsafeBytes {
                maker.add($0, at: FrameCount(start / 2)) { picture, frame in
                    pieces.append(picture)
                    starts.append(frame)
                }
            }
            start = end
        }
        #expect(pieces == whole)
        #expect(starts == (0..<20).map { FrameCount($0 * 2_205) })
    }

    @Test(arguments: [8_000, 11_025, 16_000, 96_000], [0, 0.5])
    func `every rate has its bands, which are empty in silence`(rate: Int, loudness: Double) throws {
        let picture = try #require(pictures(1_000, [loudness], sampleRate: rate).last?.picture)
        #expect(picture.bands.count == PictureMaker.bandCount)
        #expect(picture.bands.allSatisfy { (0...1).contains($0) && ($0 == 0 || loudness > 0) })
        #expect(loudness > 0 || picture.levels == [.init(peak: 0, rms: 0)])
    }

    @Test(arguments: [4, 64, 2_048], 0..<3 as Range<UInt64>)
    func `the spectrum is what the formula gives`(size: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let samples = (0..<size).map { _ in Float.random(in: -1...1, using: &random) }
        let powers = Spectrum(size: size).powers(of: samples[...])
        for bin in Set([0, 1, size / 4, size / 2]) {
            var real = 0.0
            var imaginary = 0.0
            for (index, sample) in samples.enumerated() {
                let turn = 2 * Double.pi * Double(index) / Double(size)
                let windowed = Double(sample) * (0.5 - 0.5 * cos(turn))
                real += windowed * cos(turn * Double(bin))
                imaginary -= windowed * sin(turn * Double(bin))
            }
            let power = (real * real + imaginary * imaginary) * 16 / Double(size * size)
            #expect(abs(Double(powers[bin]) - power) < 1e-3 * max(1, power))
        }
    }
}
