import Media
@testable import TerminalUI
import Testing

struct SoundBarsTests {
    private func picture(_ bands: [Float], peak: Float = 0, rms: Float = 0) -> SoundPicture {
        SoundPicture(bands: bands, levels: [SoundPicture.Level(peak: peak, rms: rms)])
    }

    @Test func `bars rise at once and fall slowly`() {
        var bars = SoundBars()
        bars.show(picture([1, 0.2]), at: .zero)
        #expect(bars.bands == [1, 0.2])
        bars.show(picture([0, 0.9]), at: .milliseconds(100))
        #expect(abs(bars.bands[0] - 0.85) < 0.001 && bars.bands[1] == 0.9)
        bars.show(nil, at: .milliseconds(300))
        #expect(abs(bars.bands[0] - 0.55) < 0.001 && abs(bars.bands[1] - 0.6) < 0.001)
        bars.show(nil, at: .seconds(2))
        #expect(bars.bands == [0, 0], "and never below zero")
    }

    @Test func `meters count decibels`() {
        var bars = SoundBars()
        bars.show(picture([0], peak: 1, rms: 0.1), at: .zero)
        #expect(bars.meters.map(\.peak) == [1])
        #expect(abs(bars.meters[0].mean - 2.0 / 3) < 0.001, "20 of 60 dB below full scale")
        bars.show(picture([0], peak: 0, rms: 0), at: .seconds(9))
        #expect(bars.meters.map { [$0.mean, $0.peak] } == [[0, 0]])
    }

    @Test func `other bands start again, and before the first picture or at an earlier time no bar rises`() {
        var bars = SoundBars()
        bars.show(nil, at: .seconds(1))
        #expect(bars.bands.isEmpty && bars.meters.isEmpty)
        bars.show(picture([1]), at: .seconds(1))
        bars.show(picture([0.5, 0.5]), at: .seconds(10))
        #expect(bars.bands == [0.5, 0.5])
        bars.show(nil, at: .seconds(1))
        #expect(bars.bands == [0.5, 0.5])
    }
}
