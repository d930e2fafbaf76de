internal import Media

/// The candidates for the command being typed, above its line: names with their keys and help, or the words
/// of an argument below the command that takes them. Pure.
enum PaletteView {
    /// More would hide the list behind them.
    private static let mostRows = 12

    static func draw(_ line: CommandLine, _ state: UIState, into buffer: inout CellBuffer) {
        let (candidates, place) = line.offer
        let rows = min(mostRows, state.layout.listRows.count - 1)
        guard rows > 0, !candidates.isEmpty || line.command != nil else { return }
        let box = PopUp(over: state.layout, height: min(rows, max(1, candidates.count)))
        let title = line.command.map { SafeText($0.name + " " + $0.syntax) } ?? "Commands"
        box.draw(title: title, into: &buffer)
        guard !candidates.isEmpty else {
            if let help = line.command?.help, let row = box.rows.first {
                buffer.draw(help, in: box.columns, row: row, style: .dim)
            }
            return
        }
        // The chosen one stays in view.
        let top = max(0, (place ?? 0) - box.rows.count + 1)
        for (index, row) in zip(candidates.indices.dropFirst(top), box.rows) {
            if index == place { buffer.lay(.selected, row: row, columns: box.columns) }
            let item = CommandTable.row(named: candidates[index].trimmedEnd)
            if let item, line.command == nil {
                draw(item, keyMap: state.keyMap, columns: box.columns, row: row, into: &buffer)
            } else {
                buffer.draw(SafeText(candidates[index]), in: box.columns, row: row, style: .normal)
            }
        }
    }

    /// The columns of a name with its syntax, and of its keys.
    private static let nameColumns = 24
    private static let keyColumns = 10

    private static func draw(
        _ item: CommandRow,
        keyMap: KeyMap,
        columns: Range<Int>,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        let name = columns.prefix(nameColumns)
        let column = buffer.draw(SafeText(item.name), column: name.lowerBound, row: row, limit: name.count)
        buffer.draw(
            SafeText(item.syntax),
            column: column + 1,
            row: row,
            limit: name.upperBound - column - 1,
            style: .dim
        )
        let rest = columns.dropFirst(name.count + 1)
        let binding = keyMap.bindings.first {
            $0.entry.row.name == item.name || $0.entry.command == .openCommandLine(item.name + " ")
        }
        if let key = binding?.keys.first {
            buffer.draw(key.name, in: rest.prefix(keyColumns), row: row, style: .prompt)
        }
        buffer.draw(item.help, in: rest.dropFirst(min(rest.count, keyColumns + 1)), row: row, style: .dim)
    }
}

extension String {
    /// The text without the blank that an argument follows.
    fileprivate var trimmedEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}
