internal import Media

/// The candidates for the command being typed, above its line: names with their keys and help, or the words
/// of an argument below the command that takes them. Pure.
struct PaletteView {
    /// More would hide the list behind them.
    private static let mostRows = 12

    private let line: CommandLine
    private let state: UIState
    private let candidates: [String]
    /// The index of the chosen one.
    private let place: Int?
    private let across: Int
    private let box: PopUp

    /// `nil` if no command is typed, nothing can be offered for it, or there is no room.
    init?(of state: UIState) {
        guard !state.layout.isTiny, let line = state.commandLine else { return nil }
        (candidates, place) = line.offer
        guard !candidates.isEmpty || line.command != nil else { return nil }
        self.line = line
        self.state = state
        across = line.command == nil ? 1 : Self.wordsAcross(candidates, in: state.layout.inner)
        let lines = max(1, (candidates.count + across - 1) / across)
        box = PopUp(over: state.layout, height: min(Self.mostRows, lines))
        guard !box.rows.isEmpty else { return nil }
    }

    /// `true` if it offers names of commands.
    var offersNames: Bool { line.command == nil }

    /// What stays of the window for the view behind it.
    var layoutAbove: ScreenLayout { state.layout.covered(from: box.top ?? state.layout.rows) }

    func draw(into buffer: inout CellBuffer) {
        let title = line.command.map { SafeText($0.name + " " + $0.syntax) } ?? "Commands"
        let height = box.rows.count
        let isCut = height * across < candidates.count
        let amount = isCut ? SafeText("\(height * across) of \(candidates.count)") : ""
        box.draw(title: title, amount: amount, into: &buffer)
        guard !candidates.isEmpty else {
            let help = line.command?.help ?? ""
            return buffer.draw(help, in: box.columns, row: box.rows.lowerBound, style: .dim)
        }
        // The chosen one stays in view.
        let top = max(0, (place ?? 0) / across - height + 1) * across
        let keyed = candidates.map { offersNames ? CommandTable.row(named: $0.trimmedEnd) : nil }
        let width = keyed.compactMap { $0 }.map { $0.name.count + 1 + $0.syntax.count }.max() ?? 0
        for index in candidates.indices.dropFirst(top).prefix(height * across) {
            let row = box.rows.lowerBound + (index - top) / across
            let room = box.columns.count / across
            let start = box.columns.lowerBound + (index - top) % across * room
            let columns = start..<start + room
            if index == place {
                buffer.lay(.selected, row: row, columns: offersNames ? 0..<Int.max : columns)
            }
            if let item = keyed[index] {
                Self.draw(
                    item,
                    width: width,
                    keyMap: state.keyMap,
                    columns: columns,
                    row: row,
                    into: &buffer
                )
            } else {
                buffer.draw(SafeText(candidates[index]), in: columns.dropLast(), row: row, style: .normal)
            }
        }
    }

    /// The number of words that stand beside each other.
    private static func wordsAcross(_ words: [String], in columns: Range<Int>) -> Int {
        let widest = words.map { SafeText($0).columns }.max() ?? 1
        return max(1, min(words.count, columns.count / max(1, widest + 3)))
    }

    /// The columns of the keys, and the fewest for the help.
    private static let keyColumns = 6
    private static let leastForHelp = 16

    /// Draws a name with its syntax, `width` columns wide, its key, and its help if there is room for that.
    private static func draw(
        _ item: CommandRow,
        width: Int,
        keyMap: KeyMap,
        columns: Range<Int>,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        let helpStart = columns.lowerBound + width + 2 + keyColumns + 2
        let hasHelp = helpStart + leastForHelp <= columns.upperBound
        let keyEnd = hasHelp ? helpStart - 2 : columns.upperBound
        let binding = keyMap.bindings.first {
            $0.entry.row.name == item.name || $0.entry.command == .openCommandLine(item.name + " ")
        }
        let key = binding?.keys.first?.name ?? ""
        let limit = keyEnd - key.columns - 1
        let name = SafeText(item.name)
        let end = buffer.draw(name, column: columns.lowerBound, row: row, limit: limit - columns.lowerBound)
        buffer.draw(SafeText(item.syntax), column: end + 1, row: row, limit: limit - end - 1, style: .dim)
        let keyStart = hasHelp ? keyEnd - keyColumns : keyEnd - key.columns
        buffer.draw(key, column: keyStart, row: row, limit: keyEnd - keyStart, style: .prompt)
        guard hasHelp else { return }
        buffer.draw(item.help, in: helpStart..<columns.upperBound, row: row, style: .dim)
    }
}

extension String {
    /// The text without the blank that an argument follows.
    fileprivate var trimmedEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}
