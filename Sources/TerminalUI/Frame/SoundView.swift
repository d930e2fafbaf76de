internal import Media

/// The spectrum, a bar for each band with the height that it has reached of late, and below it, if asked for,
/// a level meter for each channel.
package enum SoundView {
    /// The fewest rows with level meters; with fewer, there is only the spectrum.
    static let fewestRowsWithMeters = 3

    package static func draw(
        _ bars: SoundBars,
        showsMeters: Bool,
        rows: Range<Int>,
        columns: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        guard let last = rows.last else { return }
        let hasMeters = showsMeters && rows.count >= fewestRowsWithMeters
        drawSpectrum(bars, rows: hasMeters ? rows.dropLast() : rows, columns: columns, into: &buffer)
        if hasMeters { drawMeters(bars.meters, row: last, columns: columns, into: &buffer) }
    }

    /// Bars of two columns with an empty column between them, in the middle. In a narrow window several bands
    /// share a bar.
    private static func drawSpectrum(
        _ bars: SoundBars,
        rows: Range<Int>,
        columns: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        let count = min(bars.bands.count, (columns.count + 1) / width)
        guard count > 0 else { return }
        let left = columns.lowerBound + (columns.count + 1 - count * width) / 2
        let most = Float(rows.count * 8)
        for bar in 0..<count {
            let shared = bar * bars.bands.count / count..<(bar + 1) * bars.bands.count / count
            let eighths = Int(((bars.bands[shared].max() ?? 0) * most).rounded())
            let peak = Int(((bars.peaks[shared].max() ?? 0) * most).rounded())
            for (height, row) in rows.reversed().enumerated() {
                let filled = min(8, max(0, eighths - height * 8))
                let isPeak = filled == 0 && peak > 0 && (peak - 1) / 8 == height
                guard filled > 0 || isPeak else { continue }
                let style = style(at: (Float(height) + 0.5) / Float(rows.count))
                let start = left + bar * width
                for column in start..<start + width - 1 {
                    buffer.draw(buffer.glyphs.level(max(1, filled)), column: column, row: row, style: style)
                }
            }
        }
    }

    /// The columns of a bar and the gap behind it.
    private static let width = 3

    /// `L ▇▇▇▇▇▇▇▇   |`: the mean level as a bar, the peak as a mark.
    private static func drawMeters(
        _ meters: [SoundBars.Meter],
        row: Int,
        columns: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        guard !meters.isEmpty else { return }
        let width = columns.count / meters.count
        let length = width - 3
        guard length > 0 else { return }
        for (channel, meter) in meters.enumerated() {
            let start = columns.lowerBound + channel * width
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

    /// The style at a level of the scale, 0...1.
    private static func style(at level: Float) -> Style {
        if level < 0.5 { return level < 0.25 ? .soft : .middling }
        return level < 0.75 ? .loud : .loudest
    }
}
