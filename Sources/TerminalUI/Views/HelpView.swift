internal import Media

/// Draws the help: first the key bindings, then the typed commands, in as many columns as fit. Pure.
enum HelpView {
    private static let keyColumns = 13
    /// The width of one key or command with its help.
    private static let itemColumns = 40

    /// The number of rows of the help in a window of this width.
    static func rowCount(of keyMap: KeyMap, columns: Int) -> Int {
        let across = max(1, columns / itemColumns)
        return (items(of: keyMap).count + across - 1) / across
    }

    private static func items(of keyMap: KeyMap) -> [(keys: SafeText, words: SafeText)] {
        keyMap.bindings.map { (SafeText($0.keys.map(\.name.string).joined(separator: "  ")), $0.help) }
            + [(": … " + Key.tab.name, "complete a typed word")]
            + CommandTable.rows.filter(\.isListedAsLine).map { row in
                (SafeText(row.syntax.isEmpty ? ":" + row.name : ":\(row.name) \(row.syntax)"), row.help)
            }
    }

    static func draw(
        _ keyMap: KeyMap,
        at position: ListPosition,
        rows: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        let items = items(of: keyMap)
        // Items fill the first column from top to bottom, then the next.
        for (index, row) in zip(position.visible, rows) {
            let places = stride(from: index, to: items.count, by: position.count)
            for (across, place) in places.enumerated() {
                let start = 1 + across * itemColumns
                let words = start + keyColumns + 1
                buffer.draw(items[place].keys, column: start, row: row, limit: keyColumns)
                let end = start + itemColumns - 1
                buffer.draw(items[place].words, in: words..<end, row: row, style: .dim)
            }
        }
    }
}
