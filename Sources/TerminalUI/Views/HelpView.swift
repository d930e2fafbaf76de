internal import Media

extension ViewName {
    package static let help = ViewName(word: "help", help: "keys and commands")
}

/// The help: first the key bindings, then the typed commands, in as many columns as fit. Pure.
package struct HelpView: ListView {
    static let name = ViewName.help
    private static let keyColumns = 13
    /// The width of one key or command with its help.
    private static let itemColumns = 40

    package internal(set) var list = ListPosition()

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        guard isOpen else { return }
        let across = max(1, context.layout.columns / Self.itemColumns)
        resize(count: (items(of: context.keyMap).count + across - 1) / across, in: context)
    }

    private func items(of keyMap: KeyMap) -> [(keys: SafeText, words: SafeText)] {
        keyMap.bindings.map { (SafeText($0.keys.map(\.name.string).joined(separator: "  ")), $0.help) }
            + [(": … " + Key.tab.name, "complete a typed word")]
            + CommandTable.rows.filter(\.isListedAsLine).map { row in
                (SafeText(row.syntax.isEmpty ? ":" + row.name : ":\(row.name) \(row.syntax)"), row.help)
            }
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let items = items(of: context.keyMap)
        // Items fill the first column from top to bottom, then the next.
        for (index, row) in zip(list.visible, context.layout.listRows) {
            let places = stride(from: index, to: items.count, by: list.count)
            for (across, place) in places.enumerated() {
                let start = 1 + across * Self.itemColumns
                let words = start + Self.keyColumns + 1
                buffer.draw(items[place].keys, column: start, row: row, limit: Self.keyColumns)
                let end = start + Self.itemColumns - 1
                buffer.draw(items[place].words, in: words..<end, row: row, style: .dim)
            }
        }
    }
}
