internal import Media

/// The keys and what they do, made from the key map, and what can be typed; side by side where there is room.
struct HelpView {
    static let keyColumns = 13
    /// What a key with its words takes at most.
    static let bindingColumns = 40

    var glyphs: Glyphs

    /// How many rows the whole help has in a window of so many columns.
    static func rowCount(of keyMap: KeyMap, columns: Int) -> Int {
        let across = max(1, columns / bindingColumns)
        return (items(of: keyMap).count + across - 1) / across
    }

    private static func items(of keyMap: KeyMap) -> [(keys: SafeText, words: SafeText)] {
        keyMap.bindings.map { (SafeText($0.keys.map(\.name.string).joined(separator: "  ")), $0.help) }
            + [(Key.tab.name, "complete what is typed")]
            + CommandTable.rows.filter(\.isListedAsLine).map { row in
                (SafeText(row.syntax.isEmpty ? ":" + row.name : ":\(row.name) \(row.syntax)"), row.help)
            }
    }

    func draw(_ keyMap: KeyMap, at position: ListPosition, rows: Range<Int>, into buffer: inout CellBuffer) {
        let items = Self.items(of: keyMap)
        // Down the first column, then down the next.
        for (index, row) in zip(position.visible, rows) {
            for (across, place) in stride(from: index, to: items.count, by: position.count)
                .enumerated()
            {
                let column = 1 + across * Self.bindingColumns
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
            limit: Self.bindingColumns - Self.keyColumns - 2,
            style: .dim,
            ellipsis: glyphs.ellipsis
        )
    }
}
