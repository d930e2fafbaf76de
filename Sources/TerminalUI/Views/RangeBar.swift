package import Media

/// Which parts of a resource are stored, in a few cells: pure.
package enum RangeBar {
    /// `length` bytes in `columns` cells: stored whole, in part, or not at all; empty while the length is
    /// not known.
    package static func text(_ stored: ByteRangeSet, length: Int64?, columns: Int, isUnicode: Bool)
        -> SafeText
    {
        guard let length, length > 0, columns > 0 else { return "" }
        let signs = isUnicode ? ["█", "▒", "·"] : ["#", "+", "."]
        return SafeText(
            (0..<columns).map { column in
                let start = boundary(column, of: length, columns: columns)
                // With fewer bytes than cells several cells show the same byte.
                let cell = start..<max(start + 1, boundary(column + 1, of: length, columns: columns))
                if stored.covers(cell) { return signs[0] }
                return stored.gaps(in: cell) == [cell] ? signs[2] : signs[1]
            }.joined()
        )
    }

    /// `length * column / columns` without overflow: the length is a server's word.
    private static func boundary(_ column: Int, of length: Int64, columns: Int) -> Int64 {
        let (column, columns) = (Int64(column), Int64(columns))
        return length / columns * column + length % columns * column / columns
    }
}
