internal import Media

/// The spectrum, a bar for each band, and below it a level meter for each channel.
package enum SoundView {
    /// The fewest rows with level meters; with fewer, there is only the spectrum.
    static let fewestRowsWithMeters = 3

    package static func draw(_ bars: SoundBars, rows: Range<Int>, into buffer: inout CellBuffer) {
        guard let last = rows.last else { return }
        let hasMeters = rows.count >= fewestRowsWithMeters
        drawSpectrum(bars.bands, rows: hasMeters ? rows.dropLast() : rows, into: &buffer)
        if hasMeters { drawMeters(bars.meters, row: last, into: &buffer) }
    }

    /// Bars as wide as the window allows, separated by empty columns if there is room. In a narrow window
    /// several bands share a bar.
    private static func drawSpectrum(_ bands: [Float], rows: Range<Int>, into buffer: inout CellBuffer) {
        guard !bands.isEmpty, buffer.columns > 0 else { return }
        let count = min(bands.count, buffer.columns)
        let width = buffer.columns / count
        let left = (buffer.columns - count * width) / 2
        for bar in 0..<count {
            let shared = bands[bar * bands.count / count..<(bar + 1) * bands.count / count]
            let eighths = Int(((shared.max() ?? 0) * Float(rows.count * 8)).rounded())
            for (height, row) in rows.reversed().enumerated() {
                let filled = min(8, max(0, eighths - height * 8))
                guard filled > 0 else { break }
                let style = style(at: (Float(height) + 0.5) / Float(rows.count))
                let start = left + bar * width
                for column in start..<start + max(1, width - 1) {
                    buffer.draw(buffer.glyphs.level(filled), column: column, row: row, style: style)
                }
            }
        }
    }

    /// `L ▇▇▇▇▇▇▇▇   |`: the mean level as a bar, the peak as a mark.
    private static func drawMeters(_ meters: [SoundBars.Meter], row: Int, into buffer: inout CellBuffer) {
        guard !meters.isEmpty else { return }
        let width = buffer.columns / meters.count
        let length = width - 3
        guard length > 0 else { return }
        for (channel, meter) in meters.enumerated() {
            let start = channel * width
            let name: SafeText = meters.count == 1 ? "M" : channel == 0 ? "L" : "R"
            buffer.draw(name, column: start, row: row, style: .dim)
            let mean = Int((meter.mean * Float(length)).rounded())
            let peak = Int((meter.peak * Float(length)).rounded()) - 1
            for column in 0..<length {
                let isPeak = column == peak && column >= mean
                guard column < mean || isPeak else { continue }
                let style = style(at: (Float(column) + 0.5) / Float(length))
                let glyph = isPeak ? buffer.glyphs.peak : buffer.glyphs.meter
                buffer.draw(glyph, column: start + 2 + column, row: row, style: style)
            }
        }
    }

    /// The style at a level of the scale, 0...1, whose top is close to clipping.
    private static func style(at level: Float) -> Style {
        if level < 0.6 { return .soft }
        return level < 0.85 ? .middling : .loud
    }
}
