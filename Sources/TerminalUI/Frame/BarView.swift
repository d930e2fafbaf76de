package import Media

/// The bytes of the current track: played, cached, being downloaded, missing; and the position in them.
enum BarView {
    static func draw(_ player: PlayerSnapshot, row: Int, into buffer: inout CellBuffer) {
        let head = BarPart.head(of: player)
        let parts = BarPart.parts(of: player.load, head: head, columns: buffer.columns)
        for (column, part) in parts.enumerated() {
            buffer.draw(buffer.glyphs.bar(part), column: column, row: row, style: part.style)
        }
        guard player.state != .stopped, player.state != .ended, let head,
            let column = BarPart.column(of: head, length: player.load.length, columns: buffer.columns)
        else { return }
        buffer.draw(buffer.glyphs.head, column: column, row: row, style: .head)
    }
}

/// The state of the bytes in one cell of the progress bar.
package enum BarPart: Sendable, Equatable {
    case played
    case cached
    case inFlight
    case missing

    /// The parts of a bar of `columns` cells; empty if the length is unknown or there is no room.
    ///
    /// A cell never shows more than there is: it is cached only if all of its bytes are stored, and played
    /// only if the bytes before the position are stored too (a seek leaves gaps).
    package static func parts(of load: LoadReport, head: Int64?, columns: Int) -> [BarPart] {
        ByteCells.ranges(of: load.length, columns: columns).map { part($0, load: load, head: head ?? 0) }
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

    /// The cell that shows `byte`; `nil` if the length is unknown or there is no room.
    static func column(of byte: Int64, length: Int64?, columns: Int) -> Int? {
        guard let length, length > 0, columns > 0 else { return nil }
        let share = Double(max(0, min(byte, length - 1))) / Double(length)
        return min(columns - 1, Int(share * Double(columns)))
    }

    /// The target of a click at `column`: the time of the cell's first byte. `nil` if no duration is known.
    static func seekTarget(at column: Int, columns: Int, of player: PlayerSnapshot) -> SeekTarget? {
        guard player.load.live == nil, let duration = player.duration, (0..<columns).contains(column) else {
            return nil
        }
        guard let length = player.load.length, length > 0, let info = player.info, info.bytesPerSecond > 0
        else {
            return .percent(Double(column) / Double(columns) * 100)
        }
        // Rounding in `column(of:)` can put the cell's first byte into the cell before.
        let byte = ByteCells.boundary(column, of: length, columns: columns) + (column > 0 ? 1 : 0)
        let time = Duration.seconds(Double(byte - info.audioStart) / info.bytesPerSecond)
        return .to(max(.zero, min(time, duration)))
    }

    private static func part(_ bytes: ByteRange, load: LoadReport, head: Int64) -> BarPart {
        let middle = bytes.lowerBound + (bytes.upperBound - bytes.lowerBound) / 2
        if head > middle, load.stored.covers(bytes.lowerBound..<min(bytes.upperBound, head)) {
            return .played
        }
        if load.stored.covers(bytes) { return .cached }
        return load.inFlight.contains { $0.overlaps(bytes) } ? .inFlight : .missing
    }

    fileprivate var style: Style {
        switch self {
        case .played: .played
        case .cached: .cached
        case .inFlight: .inFlight
        case .missing: .missing
        }
    }
}

/// A map of the stored parts of a resource in a few cells. Pure.
package enum RangeBar {
    /// Shows for each cell if its bytes are stored completely, partly or not at all; empty if the length is
    /// unknown.
    package static func text(_ stored: ByteRangeSet, length: Int64?, columns: Int, isUnicode: Bool)
        -> SafeText
    {
        let signs = isUnicode ? ["█", "▒", "·"] : ["#", "+", "."]
        let cells = ByteCells.ranges(of: length, columns: columns).map { cell in
            stored.covers(cell) ? signs[0] : stored.gaps(in: cell) == [cell] ? signs[2] : signs[1]
        }
        return SafeText(cells.joined())
    }
}

/// The share of a resource's bytes that each cell of a bar shows.
private enum ByteCells {
    /// The bytes of each cell; empty if the length is unknown or there is no room.
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
        let (column, columns) = (Int64(column), Int64(columns))
        return length / columns * column + length % columns * column / columns
    }
}
