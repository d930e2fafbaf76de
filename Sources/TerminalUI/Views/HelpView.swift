internal import Media

/// The keys and what they do, made from the key map.
struct HelpView {
    static let keyColumns = 14

    var glyphs: Glyphs

    func draw(_ keyMap: KeyMap, at position: ListPosition, rows: Range<Int>, into buffer: inout CellBuffer) {
        for (index, row) in zip(position.visible, rows) {
            let binding = keyMap.bindings[index]
            let isSelected = index == position.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            let keys = SafeText(binding.keys.map(\.name.string).joined(separator: "  "))
            let style = isSelected ? Style.selected : .normal
            buffer.draw(
                keys,
                column: 1,
                row: row,
                limit: Self.keyColumns,
                style: style,
                ellipsis: glyphs.ellipsis
            )
            buffer.draw(
                binding.help,
                column: Self.keyColumns + 2,
                row: row,
                style: style,
                ellipsis: glyphs.ellipsis
            )
        }
    }
}
