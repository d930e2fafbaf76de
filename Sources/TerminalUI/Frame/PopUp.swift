internal import Media

/// A box over the last rows of the open view, with its title in a rule above; without the title where there
/// is no room for it. Pure.
struct PopUp: Sendable {
    /// The rows and columns inside of the box; empty if there is no room.
    private(set) var rows = 0..<0
    private(set) var columns = 0..<0
    private var titleRow: Int?
    /// The first row of the box, with its title; `nil` if there is no room.
    var top: Int? { titleRow ?? rows.first }

    init() {}

    /// A box for `height` rows, or as many as fit: a third of a high list stays in view, and one row of
    /// a low one.
    init(over layout: ScreenLayout, height: Int) {
        let room = layout.listRows
        let most = room.count < 6 ? max(1, room.count - 1) : room.count * 2 / 3
        let hasTitle = most >= 2
        rows = room.suffix(min(height, most - (hasTitle ? 1 : 0)))
        titleRow = hasTitle ? rows.lowerBound - 1 : nil
        columns = layout.inner
    }

    /// Blanks the box and draws its title, with `amount` at the right.
    func draw(title: SafeText, amount: SafeText = "", into buffer: inout CellBuffer) {
        for row in Array(rows) + (titleRow.map { [$0] } ?? []) {
            buffer.lay(.plain, row: row)
            buffer.clear(row: row)
        }
        guard let titleRow, let first = columns.first else { return }
        let rule = SafeText(String(repeating: buffer.glyphs.rule.string, count: columns.count))
        buffer.draw(rule, column: first, row: titleRow, style: .dim)
        let text = " " + title + " "
        guard text.columns + 4 < columns.count else { return }
        let end = buffer.draw(text, column: first + 2, row: titleRow, style: .heading)
        let start = columns.upperBound - amount.columns - 4
        guard !amount.isEmpty, start > end else { return }
        buffer.draw(" " + amount + " ", column: start, row: titleRow, style: .dim)
    }
}
