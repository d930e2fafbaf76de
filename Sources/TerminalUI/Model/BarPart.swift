package import Media

/// What one cell of the progress bar says about its share of the resource's bytes.
package enum BarPart: Sendable, Equatable {
    case played
    case cached
    case inFlight
    case missing

    /// The parts of a bar of `columns` cells; empty while the length is unknown or there is no room.
    ///
    /// A cell claims no more than is true: it is cached only when all of its bytes are stored, and
    /// played only where what was heard is stored too (a seek leaves holes behind the head).
    package static func parts(of load: LoadReport, head: Int64?, columns: Int) -> [BarPart] {
        guard let length = load.length, length > 0, columns > 0 else { return [] }
        return (0..<columns).map { column in
            let start = boundary(column, of: length, columns: columns)
            // A resource with fewer bytes than the bar has cells shows the same byte in several.
            let end = max(start + 1, boundary(column + 1, of: length, columns: columns))
            return part(start..<end, load: load, head: head ?? 0)
        }
    }

    /// The byte being heard; where only the time is known, its share of the whole.
    static func head(of player: PlayerSnapshot) -> Int64? {
        if let offset = player.byteOffset { return offset }
        guard let length = player.load.length, let duration = player.duration, duration > .zero else {
            return nil
        }
        let share = min(1, max(0, player.position / duration))
        // A Double of a length near the largest Int64 can round above it.
        return Int64(exactly: (Double(length) * share).rounded(.down)) ?? length
    }

    /// The cell in which `byte` is; nil while the length is unknown or there is no room.
    static func column(of byte: Int64, length: Int64?, columns: Int) -> Int? {
        guard let length, length > 0, columns > 0 else { return nil }
        let share = Double(max(0, min(byte, length - 1))) / Double(length)
        return min(columns - 1, Int(share * Double(columns)))
    }

    /// What a click at `column` asks for: the music whose byte begins the cell. nil where that is not known.
    static func seekTarget(at column: Int, columns: Int, of player: PlayerSnapshot) -> SeekTarget? {
        guard player.load.live == nil, let duration = player.duration, (0..<columns).contains(column) else {
            return nil
        }
        guard let length = player.load.length, length > 0, let info = player.info, info.bytesPerSecond > 0
        else {
            return .percent(Double(column) / Double(columns) * 100)
        }
        // The cell's first byte may belong to the one before it in the arithmetic of `column(of:)`.
        let byte = boundary(column, of: length, columns: columns) + (column > 0 ? 1 : 0)
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

    /// `length * column / columns` without overflow: the length is a server's word.
    private static func boundary(_ column: Int, of length: Int64, columns: Int) -> Int64 {
        let (column, columns) = (Int64(column), Int64(columns))
        return length / columns * column + length % columns * column / columns
    }
}
