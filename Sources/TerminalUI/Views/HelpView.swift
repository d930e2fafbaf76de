internal import Media

extension ViewName {
    package static let help = ViewName(word: "help", help: "keys and commands", isAbove: true)
}

/// The help: the keys in four groups, and on the next page the typed commands, in as many columns as fit.
/// Pure.
package struct HelpView: ListView {
    static let name = ViewName.help
    static let prompts = [Prompt.Kind.filter]
    static let selectsRows = false
    /// The fewest columns for the keys, and for them with their help.
    private static let leastForKeys = 13
    private static let leastForItem = 40
    /// More of them would be hard to survey.
    private static let mostAcross = 3

    private struct Item {
        var keys: SafeText = ""
        var words: SafeText = ""
        var isTitle = false
    }

    package internal(set) var list = ListPosition()
    private(set) var filterText = ""
    /// The items beside each other in each row; `nil` leaves a place empty.
    private var rows: [[Item?]] = []
    /// The keys and the window that the rows are made for; `nil` before the first update.
    private var frame: (keyMap: KeyMap, layout: ScreenLayout)?

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        frame = (context.keyMap, context.layout)
        if !isOpen { filterText = "" }
        if isOpen { arrange() }
    }

    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        filterText = text
        arrange()
        list.select(0)
    }

    private mutating func arrange() {
        guard let (keyMap, layout) = frame else { return }
        let height = max(1, layout.listRows.count)
        /// Fills the last page, so that what follows begins another one.
        func pages(_ rows: [[Item?]]) -> [[Item?]] {
            rows + Array(repeating: [], count: (height - rows.count % height) % height)
        }
        let across = Self.across(layout)
        let groups = Self.groups(of: keyMap)
        if filterText.isEmpty {
            let commands =
                [[Item(keys: "Commands", isTitle: true)]] + Self.flowing(Self.commands, across: across)
            let keys = Self.stacked(groups, across: across)
            rows = keys.count <= height ? pages(keys) : Self.paged(groups, across: across, height: height)
            rows += pages(commands)
        } else {
            let matcher = TrackMatcher(filterText)
            let all = groups.flatMap { $0.dropFirst() } + Self.commands
            let matching = all.filter { matcher.matches($0.keys.string, $0.words.string) }
            rows = Self.flowing(matching, across: across)
        }
        list.resize(count: rows.count, height: layout.listRows.count)
    }

    private static func across(_ layout: ScreenLayout) -> Int {
        min(mostAcross, max(1, layout.columns / leastForItem))
    }

    /// The keys of each group below its name.
    private static func groups(of keyMap: KeyMap) -> [[Item]] {
        CommandTable.groups.map { group in
            let names = Set(group.rows.map(\.name))
            let items = keyMap.bindings.filter { names.contains($0.entry.row.name) }.map { binding in
                Item(
                    keys: SafeText(binding.keys.map(\.name.string).joined(separator: "  ")),
                    words: binding.help
                )
            }
            return [Item(keys: group.name, isTitle: true)] + items
        }
    }

    private static let commands =
        CommandTable.rows.filter(\.isListedAsLine).map { row in
            let line = SafeText(row.syntax.isEmpty ? ":" + row.name : ":\(row.name) \(row.syntax)")
            return Item(keys: line, words: row.help)
        } + [Item(keys: ": … " + Key.tab.name, words: "complete a typed word")]

    /// The groups below each other with a blank row between them, in the columns in which they need the
    /// fewest rows.
    private static func stacked(_ groups: [[Item]], across: Int) -> [[Item?]] {
        let empty: [[Item?]] = Array(repeating: [], count: across)
        let arrangements = groups.reduce([empty]) { arrangements, group in
            arrangements.flatMap { columns in
                columns.indices.map { place in
                    var columns = columns
                    if !columns[place].isEmpty { columns[place].append(nil) }
                    columns[place] += group
                    return columns
                }
            }
        }
        func height(_ columns: [[Item?]]) -> Int { columns.map(\.count).max() ?? 0 }
        let columns = arrangements.min { height($0) < height($1) } ?? empty
        return (0..<height(columns)).map { row in columns.map { row < $0.count ? $0[row] : nil } }
    }

    /// The groups one after the other through the columns of pages of `height` rows. No row of a group stands
    /// alone at the top of a column, and no name of a group at its end.
    private static func paged(_ groups: [[Item]], across: Int, height: Int) -> [[Item?]] {
        var columns: [[Item?]] = [[]]
        for group in groups {
            if let last = columns.last, !last.isEmpty {
                if last.count + 4 > height {
                    columns.append([])
                } else {
                    columns[columns.count - 1].append(nil)
                }
            }
            var rest = group[...]
            while !rest.isEmpty {
                var count = min(rest.count, height - columns[columns.count - 1].count)
                if rest.count - count == 1, count > 2 { count -= 1 }
                columns[columns.count - 1] += Array(rest.prefix(count))
                rest = rest.dropFirst(count)
                if !rest.isEmpty { columns.append([]) }
            }
        }
        return stride(from: 0, to: columns.count, by: across).flatMap { first in
            (0..<height).map { row in
                columns[first..<min(first + across, columns.count)].map { row < $0.count ? $0[row] : nil }
            }
        }
    }

    /// Items that fill the first column from top to bottom, then the next.
    private static func flowing(_ items: [Item], across: Int) -> [[Item?]] {
        let height = (items.count + across - 1) / across
        return (0..<height).map { row in stride(from: row, to: items.count, by: height).map { items[$0] } }
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        guard !rows.isEmpty else {
            return buffer.drawPlaceholder(
                SafeText("No match for \"\(filterText)\""),
                rows: context.layout.listRows
            )
        }
        let inner = context.layout.inner
        let across = Self.across(context.layout)
        let width = inner.count / across
        let keyColumns = max(Self.leastForKeys, width * 3 / 10)
        for (index, row) in zip(list.visible, context.layout.listRows) {
            for case (let place, let item?) in rows[index].enumerated() {
                let start = inner.lowerBound + place * width
                let words = start + keyColumns + 1
                let style: Style = item.isTitle ? .heading : .normal
                buffer.draw(item.keys, column: start, row: row, limit: keyColumns, style: style)
                let end = place + 1 == across ? inner.upperBound : start + width - 1
                buffer.draw(item.words, in: words..<max(words, end), row: row, style: .dim)
            }
        }
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [(.selectByPage(1), "commands"), (.filter(nil), "filter"), (.selectBy(1), "down")]
    }
}
