internal import Media

/// The keys of the key map, then the commands to type, in as many columns as fit. Pure.
struct HelpView {
    private static let keyColumns = 13
    /// The width of one key or command with its help.
    private static let itemColumns = 40

    var glyphs: Glyphs

    /// The number of rows of the help in a window of this width.
    static func rowCount(of keyMap: KeyMap, columns: Int) -> Int {
        let across = max(1, columns / itemColumns)
        return (items(of: keyMap).count + across - 1) / across
    }

    private static func items(of keyMap: KeyMap) -> [(keys: SafeText, words: SafeText)] {
        keyMap.bindings.map { (SafeText($0.keys.map(\.name.string).joined(separator: "  ")), $0.help) }
            + [(Key.tab.name, "complete the word")]
            + CommandTable.rows.filter(\.isListedAsLine).map { row in
                (SafeText(row.syntax.isEmpty ? ":" + row.name : ":\(row.name) \(row.syntax)"), row.help)
            }
    }

    func draw(_ keyMap: KeyMap, at position: ListPosition, rows: Range<Int>, into buffer: inout CellBuffer) {
        let items = Self.items(of: keyMap)
        // Items fill the first column from top to bottom, then the next.
        for (index, row) in zip(position.visible, rows) {
            for (across, place) in stride(from: index, to: items.count, by: position.count)
                .enumerated()
            {
                let column = 1 + across * Self.itemColumns
                draw(items[place], column: column, row: row, into: &buffer)
            }
        }
    }

    private func draw(
        _ item: (keys: SafeText, words: SafeText),
        column: Int,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        buffer.draw(item.keys, column: column, row: row, limit: Self.keyColumns, ellipsis: glyphs.ellipsis)
        buffer.draw(
            item.words,
            column: column + Self.keyColumns + 1,
            row: row,
            limit: Self.itemColumns - Self.keyColumns - 2,
            style: .dim,
            ellipsis: glyphs.ellipsis
        )
    }
}
