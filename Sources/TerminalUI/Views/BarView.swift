internal import Media

/// The bytes of the current track: played, cached, in flight, missing; and where the music is in them.
struct BarView {
    var glyphs: Glyphs

    func draw(_ player: PlayerSnapshot, row: Int, into buffer: inout CellBuffer) {
        let head = BarPart.head(of: player)
        let parts = BarPart.parts(of: player.load, head: head, columns: buffer.columns)
        for (column, part) in parts.enumerated() {
            buffer.draw(glyphs.bar(part), column: column, row: row, style: part.style)
        }
        guard player.state != .stopped, player.state != .ended, let head,
            let column = BarPart.column(of: head, length: player.load.length, columns: buffer.columns)
        else { return }
        buffer.draw(glyphs.head, column: column, row: row, style: .head)
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
