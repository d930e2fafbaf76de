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
