internal import Media

/// All that is known of what is playing.
struct PlayingView {
    static let nameColumns = 10

    var glyphs: Glyphs

    func draw(
        _ player: PlayerSnapshot,
        at position: ListPosition,
        rows: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        let facts = PlayingFact.all(of: player, glyphs: glyphs)
        guard !facts.isEmpty else {
            guard let row = rows.first else { return }
            buffer.draw("Nothing is playing", column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            return
        }
        for (index, row) in zip(position.visible, rows) where facts.indices.contains(index) {
            let fact = facts[index]
            buffer.draw(fact.name, column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            // What has no name of its own is a heading, or goes on with the line above.
            let column = index < 2 ? 1 : 1 + Self.nameColumns
            buffer.draw(fact.text, column: column, row: row, style: fact.style, ellipsis: glyphs.ellipsis)
        }
    }
}
