internal import Media

/// The keys and what they do, made from the key map; side by side where there is room.
struct HelpView {
    static let keyColumns = 13
    /// What a key with its words takes at most.
    static let bindingColumns = 40

    var glyphs: Glyphs

    /// How many rows the whole help has in a window of so many columns.
    static func rowCount(of keyMap: KeyMap, columns: Int) -> Int {
        let across = max(1, columns / bindingColumns)
        return (keyMap.bindings.count + across - 1) / across
    }

    func draw(_ keyMap: KeyMap, at position: ListPosition, rows: Range<Int>, into buffer: inout CellBuffer) {
        // Down the first column, then down the next.
        for (index, row) in zip(position.visible, rows) {
            for (across, place) in stride(from: index, to: keyMap.bindings.count, by: position.count)
                .enumerated()
            {
                let column = 1 + across * Self.bindingColumns
                draw(keyMap.bindings[place], column: column, row: row, into: &buffer)
            }
        }
    }

    private func draw(_ binding: KeyMap.Binding, column: Int, row: Int, into buffer: inout CellBuffer) {
        let keys = SafeText(binding.keys.map(\.name.string).joined(separator: "  "))
        buffer.draw(keys, column: column, row: row, limit: Self.keyColumns, ellipsis: glyphs.ellipsis)
        buffer.draw(
            binding.help,
            column: column + Self.keyColumns + 1,
            row: row,
            limit: Self.bindingColumns - Self.keyColumns - 2,
            style: .dim,
            ellipsis: glyphs.ellipsis
        )
    }
}
