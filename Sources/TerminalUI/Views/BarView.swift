internal import Media

/// The bytes of the current track: played, cached, in flight, missing.
struct BarView {
    var glyphs: Glyphs

    func draw(_ player: PlayerSnapshot, row: Int, into buffer: inout CellBuffer) {
        let parts = BarPart.parts(of: player.load, head: head(of: player), columns: buffer.columns)
        for (column, part) in parts.enumerated() {
            buffer.draw(glyphs.bar(part), column: column, row: row, style: part.style)
        }
    }

    /// The byte being heard; where only the time is known, its share of the whole.
    private func head(of player: PlayerSnapshot) -> Int64? {
        if let offset = player.byteOffset { return offset }
        guard let length = player.load.length, let duration = player.duration, duration > .zero else {
            return nil
        }
        let share = min(1, max(0, player.position / duration))
        // A Double of a length near the largest Int64 can round above it.
        return Int64(exactly: (Double(length) * share).rounded(.down)) ?? length
    }
}

extension BarPart {
    var style: Style {
        switch self {
        case .played: .played
        case .cached: .cached
        case .inFlight: .inFlight
        case .missing: .missing
        }
    }
}
