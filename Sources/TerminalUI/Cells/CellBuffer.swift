package import Media

/// One column of one row.
///
/// Only `CellBuffer` creates cells, and only from safe text, so no cell contains a control character.
package struct Cell: Sendable, Equatable {
    /// The character with all that combines with it; empty in the further columns of a wide one.
    package let text: String
    /// The columns of the character, from 1 on; 0 in the further columns of a wide one.
    package let width: Int
    package fileprivate(set) var style: Style
    package fileprivate(set) var ground = Ground.plain
    /// The exact colours, each with a bit that says if there is one: `paper` in the upper half, `ink` in the
    /// lower.
    private var exact: UInt64 = 0

    /// The exact colour of the character; `nil` for that of its style.
    package fileprivate(set) var ink: ScreenColor? {
        get { Self.unpack(exact) }
        set { exact = exact & ~0xFFFF_FFFF | Self.pack(newValue) }
    }

    /// The exact colour behind the character; `nil` for that of its ground.
    package fileprivate(set) var paper: ScreenColor? {
        get { Self.unpack(exact >> 32) }
        set { exact = exact & 0xFFFF_FFFF | Self.pack(newValue) << 32 }
    }

    /// `true` if both are drawn in the same colours with the same attributes.
    func looksLike(_ other: Cell) -> Bool {
        style.rawValue == other.style.rawValue && ground.rawValue == other.ground.rawValue
            && exact == other.exact
    }

    private static func pack(_ color: ScreenColor?) -> UInt64 {
        color.map { 1 << 24 | UInt64($0.rawValue) } ?? 0
    }

    private static func unpack(_ value: UInt64) -> ScreenColor? {
        value & 1 << 24 == 0 ? nil : ScreenColor(UInt32(truncatingIfNeeded: value))
    }

    // Numbers first: the derived comparison of two screens takes more than three times as many instructions.
    package static func == (left: Cell, right: Cell) -> Bool {
        left.looksLike(right) && left.width == right.width && left.text == right.text
    }

    fileprivate init(text: String, width: Int, style: Style) {
        self.text = text
        self.width = width
        self.style = style
    }

    fileprivate static func blank(_ style: Style) -> Cell { Cell(text: " ", width: 1, style: style) }

    fileprivate static func continuation(_ style: Style) -> Cell { Cell(text: "", width: 0, style: style) }
}

/// A picture on the screen: what it is, and the cells that it covers.
package struct ImagePlace: Sendable, Hashable {
    /// Two pictures with the same number look the same.
    package var identity: UInt64
    package var columns: Range<Int>
    package var rows: Range<Int>

    package init(identity: UInt64, columns: Range<Int>, rows: Range<Int>) {
        self.identity = identity
        self.columns = columns
        self.rows = rows
    }
}

/// A screen in memory: views draw into it, and the shell writes the cells that have changed.
///
/// Drawing outside of the grid is clipped and never traps, because a window can have any size.
package struct CellBuffer: Sendable, Equatable {
    package let columns: Int
    package let rows: Int
    /// The symbols to draw with.
    package let glyphs: Glyphs
    /// The pictures over the cells; two never overlap.
    package var images: [ImagePlace] = []
    private var cells: [Cell]

    /// A blank screen; negative sizes count as 0.
    package init(columns: Int, rows: Int, glyphs: Glyphs = .unicode) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
        self.glyphs = glyphs
        cells = Array(repeating: .blank(.normal), count: self.columns * self.rows)
    }

    /// The cells of a row, which must be on the screen.
    package subscript(row row: Int) -> ArraySlice<Cell> { cells[row * columns..<(row + 1) * columns] }

    /// The rows that differ from `earlier`; all rows if the sizes differ or `earlier` is `nil`.
    package func changedRows(since earlier: CellBuffer?) -> [Int] {
        guard let earlier, earlier.columns == columns, earlier.rows == rows else { return Array(0..<rows) }
        // Cell by cell: comparing slices of the arrays takes five times as long.
        return (0..<rows).filter { row in
            (row * columns..<(row + 1) * columns).contains { cells[$0] != earlier.cells[$0] }
        }
    }

    /// Draws `text` in one row from `column` on and returns the column after it.
    ///
    /// Text beyond `limit` columns or the right edge is truncated, with an ellipsis at its end.
    @discardableResult
    package mutating func draw(
        _ text: SafeText,
        column: Int,
        row: Int,
        limit: Int = .max,
        style: Style = .normal
    ) -> Int {
        guard (0..<rows).contains(row), (0..<columns).contains(column), limit > 0 else { return column }
        let room = min(limit, columns - column)
        var next = column
        TextCluster.forEach(in: text.cut(toColumns: room, ellipsis: glyphs.ellipsis)) { cluster in
            guard next + cluster.width <= columns else { return false }
            let cell = Cell(text: cluster.text, width: cluster.width, style: style)
            put(cell, column: next, row: row)
            next += cluster.width
            return true
        }
        return next
    }

    /// Draws `text` within `columns` of one row.
    mutating func draw(
        _ text: SafeText,
        in columns: Range<Int>,
        row: Int,
        style: Style,
        isRightAligned: Bool = false
    ) {
        let indent = isRightAligned ? max(0, columns.count - text.columns) : 0
        let start = columns.lowerBound + indent
        draw(text, column: start, row: row, limit: columns.upperBound - start, style: style)
    }

    /// Changes how a cell looks; `nil` leaves its background.
    mutating func restyle(column: Int, row: Int, style: Style, ground: Ground? = nil) {
        guard (0..<rows).contains(row), (0..<columns).contains(column) else { return }
        cells[row * columns + column].style = style
        if let ground { cells[row * columns + column].ground = ground }
    }

    /// Gives the cell of a character exact colours; `nil` leaves those of its style and ground.
    package mutating func paint(column: Int, row: Int, ink: ScreenColor? = nil, paper: ScreenColor? = nil) {
        guard (0..<rows).contains(row), (0..<columns).contains(column) else { return }
        cells[row * columns + column].ink = ink
        cells[row * columns + column].paper = paper
    }

    /// Gives a row, or some columns of it, a background, which whatever is drawn there later keeps.
    package mutating func lay(_ ground: Ground, row: Int, columns range: Range<Int> = 0..<Int.max) {
        guard (0..<rows).contains(row) else { return }
        for column in range.clamped(to: 0..<columns) { cells[row * columns + column].ground = ground }
    }

    /// Draws some rows in one grey without backgrounds: what is behind a box. With `keepsChosen`, cells that
    /// have a background stay as they are.
    mutating func fade(rows: Range<Int>, keepsChosen: Bool) {
        let rows = rows.clamped(to: 0..<self.rows)
        for place in rows.lowerBound * columns..<rows.upperBound * columns
        where !keepsChosen || cells[place].ground == .plain {
            // The edge of the selected row.
            if cells[place].style == .head { cells[place] = .blank(.faint) }
            cells[place].style = .faint
            cells[place].ground = .plain
        }
    }

    /// Draws a line in place of a list that has no rows.
    mutating func drawPlaceholder(_ text: SafeText, rows: Range<Int>, style: Style = .dim) {
        if let row = rows.first { draw(text, column: 1, row: row, style: style) }
    }

    /// Blanks a row.
    package mutating func clear(row: Int) {
        guard (0..<rows).contains(row) else { return }
        for column in 0..<columns { put(.blank(.normal), column: column, row: row) }
    }

    /// Puts `cell` where all of it is on the screen.
    private mutating func put(_ cell: Cell, column: Int, row: Int) {
        let index = row * columns + column
        let end = index + cell.width
        removeCharacter(across: index)
        if column + cell.width < columns { removeCharacter(across: end) }
        set(cell, at: index)
        for place in index + 1..<max(end, index + 1) { set(.continuation(cell.style), at: place) }
    }

    /// The background stays.
    private mutating func set(_ cell: Cell, at index: Int) {
        let ground = cells[index].ground
        cells[index] = cell
        cells[index].ground = ground
    }

    /// Removes the wide character that begins before `index` and reaches over it, if there is one.
    private mutating func removeCharacter(across index: Int) {
        guard cells[index].width == 0 else { return }
        var first = index
        while cells[first].width == 0 { first -= 1 }
        for place in first..<first + cells[first].width { set(.blank(cells[place].style), at: place) }
    }
}
