package import Media

/// The music of the current track, in time: heard, cached, being downloaded, missing; and the position in
/// it.
///
/// In two rows, heard and cached cells are as high as the music is loud there, as far as that is known. While
/// the duration is unknown, the bar shows the bytes instead.
enum BarView {
    /// `pointer` is the cell of the bar to which the mouse drags the position; `nil` if it does not.
    static func draw(
        _ player: PlayerSnapshot,
        pointer: Int? = nil,
        rows: Range<Int>,
        columns: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        let width = columns.count
        guard let last = rows.last else { return }
        let parts = BarPart.parts(of: player, columns: width)
        let ticks = ChapterTicks.starts(in: player, columns: width)
        let heights = rows.count < 2 ? [] : heights(of: player, columns: width)
        for (cell, (column, part)) in zip(columns, parts).enumerated() {
            let height = heights.isEmpty ? nil : heights[cell]
            if let height, part == .played || part == .cached {
                drawWave(height, column: column, rows: rows, style: part.style, into: &buffer)
            } else {
                buffer.draw(buffer.glyphs.bar(part), column: column, row: last, style: part.style)
            }
            if rows.count < 2, ticks[cell] != nil {
                buffer.draw(buffer.glyphs.tick, column: column, row: last, style: part.style)
            }
        }
        let head =
            player.state == .stopped || player.state == .ended
            ? nil : pointer ?? BarPart.headColumn(of: player, columns: width)
        // In two rows the marks stand over the wave, which they do not cut; none is beside the position.
        for cell in ticks.keys where rows.count > 1 && abs(cell - (head ?? -2)) > 1 {
            let column = columns.lowerBound + cell
            buffer.draw(buffer.glyphs.chapter, column: column, row: rows.lowerBound, style: .dim)
        }
        guard let head else { return }
        let column = columns.lowerBound + head
        for row in rows { buffer.draw(buffer.glyphs.head, column: column, row: row, style: .head) }
    }

    /// The heights of the cells, 0...1; empty if the bar does not show times.
    private static func heights(of player: PlayerSnapshot, columns: Int) -> [Float?] {
        player.timeMap.map { player.waveform.heights(columns, of: $0.duration) } ?? []
    }

    /// Fills a column of `rows` from below, in eighths of a row, at least one.
    private static func drawWave(
        _ height: Float,
        column: Int,
        rows: Range<Int>,
        style: Style,
        into buffer: inout CellBuffer
    ) {
        let eighths = max(1, Int((height * Float(rows.count * 8)).rounded()))
        for (index, row) in rows.reversed().enumerated() where eighths > index * 8 {
            buffer.draw(buffer.glyphs.level(eighths - index * 8), column: column, row: row, style: style)
        }
    }
}

/// The meaning of the bar's colours, at the right of the status row.
enum BarLegend {
    private static let words: [(BarPart, SafeText)] = [
        (.played, "heard"), (.cached, "cached"), (.inFlight, "on its way"), (.missing, "missing"),
    ]
    /// A symbol and a blank before each word, and two blanks between them.
    static let width = words.reduce(-2) { $0 + $1.1.columns + 4 }

    /// Draws it from `column` on.
    static func draw(at column: Int, row: Int, into buffer: inout CellBuffer) {
        var column = column
        for (part, word) in words {
            buffer.draw(buffer.glyphs.bar(part), column: column, row: row, style: part.style)
            column = buffer.draw(word, column: column + 2, row: row, style: .dim) + 2
        }
    }
}

/// The state of the bytes in one cell of the progress bar.
package enum BarPart: Sendable, Equatable {
    /// Heard since the track began.
    case played
    case cached
    case inFlight
    case missing

    /// The parts of a bar of `columns` cells of equal time, or without a time map of as many bytes each;
    /// empty if the length is unknown or there is no room.
    ///
    /// A cell never shows more than there is: it is cached only if all of its bytes are stored, and heard
    /// only if all of its time was, or in the cell of the position the half before that. Bytes outside the
    /// music, such as a picture in front, have no cell.
    package static func parts(of player: PlayerSnapshot, columns: Int) -> [BarPart] {
        let cells =
            player.timeMap.map { BarCells.ranges(of: $0, columns: columns) }
            ?? BarCells.ranges(of: player.load.length, columns: columns)
        let duration = player.timeMap?.duration ?? player.duration
        return cells.enumerated().map { column, bytes in
            if let duration, isHeard(column, of: columns, duration, player) { return .played }
            if player.load.stored.covers(bytes) { return .cached }
            return player.load.inFlight.contains { $0.overlaps(bytes) } ? .inFlight : .missing
        }
    }

    private static func isHeard(
        _ column: Int,
        of columns: Int,
        _ duration: Duration,
        _ player: PlayerSnapshot
    ) -> Bool {
        let start = duration * (Double(column) / Double(columns))
        let end = duration * (Double(column + 1) / Double(columns))
        let isHalf = player.position > start + (end - start) / 2 && player.position < end
        return player.heard.covers(start..<(isHalf ? player.position : end))
    }

    /// The byte being played; if only the time is known, the byte at the same share of the length. `nil` if
    /// unknown.
    static func head(of player: PlayerSnapshot) -> Int64? {
        if let offset = player.byteOffset { return offset }
        guard let length = player.load.length, let duration = player.duration, duration > .zero else {
            return nil
        }
        let share = min(1, max(0, player.position / duration))
        // For a length near the largest Int64 the product can round above it.
        return Int64(exactly: (Double(length) * share).rounded(.down)) ?? length
    }

    /// The cell of the position; `nil` if it is unknown or there is no room.
    static func headColumn(of player: PlayerSnapshot, columns: Int) -> Int? {
        guard columns > 0 else { return nil }
        let share: Double
        if let map = player.timeMap {
            share = min(max(0, player.position / map.duration), 1)
        } else if let byte = head(of: player), let length = player.load.length, length > 0 {
            share = Double(max(0, min(byte, length - 1))) / Double(length)
        } else {
            return nil
        }
        return min(columns - 1, Int(share * Double(columns)))
    }

    /// The target of a click at `column`: the time at which the cell begins. `nil` if no duration is known.
    static func seekTarget(at column: Int, columns: Int, of player: PlayerSnapshot) -> SeekTarget? {
        guard player.load.live == nil, let duration = player.duration, (0..<columns).contains(column) else {
            return nil
        }
        if let chapter = ChapterTicks.starts(in: player, columns: columns)[column] { return .to(chapter) }
        let start = duration * (Double(column) / Double(columns))
        // A seek lands up to a PCM frame early, which must not be in the cell before.
        return .to(column > 0 ? min(start + .milliseconds(1), duration) : .zero)
    }

    var style: Style {
        switch self {
        case .played: .played
        case .cached: .cached
        case .inFlight: .inFlight
        case .missing: .missing
        }
    }
}

/// The marks on the bar where chapters begin. Pure.
enum ChapterTicks {
    /// The starts of chapters by the cells that have a mark, the first one of each cell.
    ///
    /// The start of the bar needs no mark. A bar without times has none, and neither has one with more
    /// chapters than half its cells, since it would hide what is cached.
    static func starts(in player: PlayerSnapshot, columns: Int) -> [Int: Duration] {
        guard let map = player.timeMap, let chapters = player.info?.chapters, chapters.count <= columns / 2
        else { return [:] }
        let marked = chapters.chapters.filter { $0.start < map.duration }.map { chapter in
            (Int(chapter.start / map.duration * Double(columns)), chapter.start)
        }
        return Dictionary(marked.filter { (1..<columns).contains($0.0) }) { first, _ in first }
    }
}

/// A map of the stored parts of a resource in a few cells. Pure.
package enum RangeBar {
    /// The number of cells in tables.
    package static let columns = 10

    /// Shows for each cell if all of its bytes are stored, or some are being downloaded; empty if the length
    /// is unknown.
    package static func parts(
        _ stored: ByteRangeSet,
        inFlight: [ByteRange] = [],
        length: Int64?,
        columns: Int = Self.columns
    ) -> [BarPart] {
        BarCells.ranges(of: length, columns: columns).map { cell in
            if stored.covers(cell) { return .cached }
            return inFlight.contains { $0.overlaps(cell) } ? .inFlight : .missing
        }
    }

    /// The same as text.
    package static func text(
        _ stored: ByteRangeSet,
        length: Int64?,
        columns: Int = Self.columns,
        glyphs: Glyphs
    ) -> SafeText {
        SafeText(parts(stored, length: length, columns: columns).map { glyphs.map($0).string }.joined())
    }

    /// Draws the map in the colours of the bar.
    static func draw(_ parts: [BarPart], column: Int, row: Int, into buffer: inout CellBuffer) {
        for (offset, part) in parts.enumerated() {
            buffer.draw(buffer.glyphs.map(part), column: column + offset, row: row, style: part.style)
        }
    }
}

/// The bytes that each cell of a bar shows.
private enum BarCells {
    /// The bytes of cells of equal time.
    static func ranges(of map: TimeMap, columns: Int) -> [ByteRange] {
        guard columns > 0 else { return [] }
        let bounds = (0...columns).map { map.offset(at: map.duration * (Double($0) / Double(columns))) }
        return zip(bounds, bounds.dropFirst()).map { $0..<max($0 + 1, $1) }
    }

    /// The bytes of cells of equal length; empty if the length is unknown or there is no room.
    ///
    /// If there are fewer bytes than cells, several cells show the same byte.
    static func ranges(of length: Int64?, columns: Int) -> [ByteRange] {
        guard let length, length > 0, columns > 0 else { return [] }
        return (0..<columns).map { column in
            let start = boundary(column, of: length, columns: columns)
            return start..<max(start + 1, boundary(column + 1, of: length, columns: columns))
        }
    }

    /// `length * column / columns` without overflow: a server can claim any length.
    static func boundary(_ column: Int, of length: Int64, columns: Int) -> Int64 {
        let column = Int64(column)
        let columns = Int64(columns)
        return length / columns * column + length % columns * column / columns
    }
}
