import Media
@testable import TerminalUI
import Testing

struct SoundViewTests {
    private func bars(_ bands: [Float], _ levels: [SoundPicture.Level] = []) -> SoundBars {
        var bars = SoundBars()
        bars.show(SoundPicture(bands: bands, levels: levels), at: .zero)
        return bars
    }

    private func draw(_ bars: SoundBars, _ columns: Int, _ rows: Int, glyphs: Glyphs = .unicode) -> CellBuffer
    {
        var buffer = CellBuffer(columns: columns, rows: rows, glyphs: glyphs)
        SoundView.draw(bars, showsMeters: true, rows: 0..<rows, columns: 0..<columns, into: &buffer)
        return buffer
    }

    private let rising: [Float] = [0, 0.06, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1]

    @Test func `a bar for each band, in eighths of a row, and in other signs without Unicode`() {
        let unicode = ["                  ▂▂ ▄▄ ▆▆ ██", "   ▁▁ ▂▂ ▄▄ ▆▆ ██ ██ ██ ██ ██"]
        #expect(draw(bars(rising), 29, 2).lines == unicode)
        let ascii = ["                  .. :: ++ ##", "   .. .. :: ++ ## ## ## ## ##"]
        #expect(draw(bars(rising), 29, 2, glyphs: .ascii).lines == ascii)
    }

    @Test func `the meters of two channels stand below, each with its mean and its peak`() {
        let bars = bars([1], [.init(peak: 1, rms: 0.1), .init(peak: 0.1, rms: 0.01)])
        let lines = draw(bars, 30, 4).lines
        #expect(lines.last == "L ▄▄▄▄▄▄▄▄   ▌ R ▄▄▄▄   ▌")
        #expect(draw(bars, 30, 4, glyphs: .ascii).lines.last == "L ========   | R ====   |")
        #expect(lines.dropLast().allSatisfy { $0 == String(repeating: " ", count: 14) + "██" })
    }

    @Test func `one channel has one meter, and few rows have none`() {
        let levels = [SoundPicture.Level(peak: 1, rms: 1)]
        #expect(draw(bars([0], levels), 13, 3).lines == ["", "", "M ▄▄▄▄▄▄▄▄▄▄"])
        #expect(draw(bars([0.5], levels), 4, 2).lines == ["", " ██"])
    }

    @Test func `in a wide window the bars stay two columns wide, and stand in the middle`() {
        #expect(draw(bars([1, 1, 1]), 20, 1).lines == ["      ██ ██ ██"])
    }

    @Test func `in a narrow window several bands share a bar, the loudest of them`() {
        #expect(draw(bars([1, 0, 0, 0.5, 0, 0]), 5, 1).lines == ["██ ▄▄"])
    }

    @Test func `silence draws nothing, and any size will do`() {
        let silence = bars(Array(repeating: 0, count: 24), [.init(peak: 0, rms: 0), .init(peak: 0, rms: 0)])
        #expect(draw(silence, 40, 4).lines == ["", "", "", "L" + String(repeating: " ", count: 19) + "R"])
        for (columns, rows) in [(0, 0), (1, 1), (2, 5), (5, 3), (500, 200)] {
            _ = draw(bars(rising, [SoundPicture.Level(peak: 1, rms: 1)]), columns, rows)
        }
        #expect(draw(SoundBars(), 10, 4).lines == ["", "", "", ""])
    }

    @Test func `louder parts have another colour`() {
        let buffer = draw(bars([1]), 2, 5)
        #expect((0..<4).map { buffer[column: 0, row: $0].style } == [.loudest, .loud, .middling, .soft])
    }

    @Test func `the peak of a bar stays above it and falls more slowly`() {
        var bars = bars([1])
        bars.show(SoundPicture(bands: [0], levels: []), at: .milliseconds(500))
        #expect(draw(bars, 2, 5).lines == ["▁▁", "", "", "██", ""])
        bars.show(SoundPicture(bands: [0], levels: []), at: .seconds(1))
        #expect(draw(bars, 2, 5).lines == ["", "▁▁", "", "", ""])
        bars.show(SoundPicture(bands: [0.75], levels: []), at: .seconds(1))
        #expect(draw(bars, 2, 5).lines == ["", "██", "██", "██", ""])
    }
}
