/// Writes what changes a terminal with 24-bit colours from one frame to the next: only cells and pictures
/// that look different. Pure but for the C library's table of widths (`CellParts`).
///
/// All such terminals follow ECMA-48, so nothing is looked up in terminfo.
struct FrameWriter {
    private let before: CellBuffer?
    private let frame: CellBuffer
    private let palette: Palette
    private let isUnicode: Bool
    private let changes: ImageChanges
    private var bytes: [UInt8] = []
    /// How the terminal draws the next character.
    private var rendition = Rendition()
    /// Where the terminal draws the next character; `nil` if unknown.
    private var cursor: (column: Int, row: Int)?
    private var wraps = true

    /// The bytes that turn `before` into `frame`, none if they look the same. Without an earlier frame of the
    /// same size the screen is cleared first, with its pictures. The terminal draws plain characters before
    /// and after it.
    static func bytes(
        from before: CellBuffer?,
        to frame: CellBuffer,
        palette: Palette,
        isUnicode: Bool,
        images: ImageSequences? = nil
    ) -> [UInt8] {
        var writer = FrameWriter(from: before, to: frame, palette: palette, isUnicode: isUnicode)
        writer.write(images)
        return writer.bytes
    }

    private init(from before: CellBuffer?, to frame: CellBuffer, palette: Palette, isUnicode: Bool) {
        let isKnown = before?.columns == frame.columns && before?.rows == frame.rows
        self.before = isKnown ? before : nil
        self.frame = frame
        self.palette = palette
        self.isUnicode = isUnicode
        changes = ImageChanges(from: isKnown ? before?.images ?? [] : [], to: frame.images)
    }

    private mutating func write(_ images: ImageSequences?) {
        if before == nil { append("\u{1B}[m\u{1B}[2J") }
        if let images { changes.removed.forEach { bytes += images.remove($0) } }
        let rows = Set(frame.changedRows(since: before)).union(changes.removed.flatMap(\.rows))
        for row in rows.sorted() where row < frame.rows { write(row: row) }
        change(to: Rendition())
        if !wraps { append("\u{1B}[?7h") }
        guard let images else { return }
        for image in changes.drawn {
            move(to: image.columns.lowerBound, row: image.rows.lowerBound)
            bytes += images.draw(image)
            cursor = nil
        }
    }

    private mutating func write(row: Int) {
        let cells = Array(frame[row: row])
        let old = before.map { Array($0[row: row]) }
        let covered = changes.removed.filter { $0.rows.contains(row) }.map(\.columns)
        let blankStart = trailingBlanks(of: cells)
        var column = 0
        while column < cells.count {
            let cell = cells[column]
            let end = column + max(1, cell.width)
            defer { column = end }
            let isChanged = (column..<end).contains { place in
                covered.contains { $0.contains(place) } || looksChanged(cells[place], from: old?[place])
            }
            guard isChanged, cell.width > 0 else { continue }
            bridge(cells, to: column, row: row)
            move(to: column, row: row)
            if !suits(cell) { change(to: visible(cell)) }
            if column >= blankStart {
                append("\u{1B}[K")
                return
            }
            // A character that a terminal draws wider than we count would scroll the screen.
            if end == cells.count { stopWrapping() }
            write(cell, column: column, row: row)
            if cursor != nil { cursor = end == cells.count ? nil : (end, row) }
        }
    }

    private mutating func write(_ cell: Cell, column: Int, row: Int) {
        if isPlain(cell) { return append(cell.text) }
        let parts = CellParts(of: cell, isUnicode: isUnicode)
        guard !parts.isCertain else { return append(parts.text) }
        // The terminal may draw it in fewer columns, so blanks are below, and its cursor may be anywhere.
        append(String(repeating: " ", count: cell.width))
        cursor = nil
        move(to: column, row: row)
        append(parts.text)
        cursor = nil
    }

    private func isPlain(_ cell: Cell) -> Bool { cell.text.utf8.count == 1 }

    private mutating func stopWrapping() {
        guard wraps else { return }
        wraps = false
        append("\u{1B}[?7l")
    }

    /// `true` if the cell looks different from `old`, the one at its place, which is clear if that is `nil`.
    private func looksChanged(_ cell: Cell, from old: Cell?) -> Bool {
        guard let old else { return cell.text != " " || visible(cell) != Rendition() }
        guard cell != old else { return false }
        return cell.text != old.text || cell.width != old.width || visible(cell) != visible(old)
    }

    /// A blank shows only what is behind it.
    private func visible(_ cell: Cell) -> Rendition {
        let rendition = palette.rendition(of: cell)
        return cell.text == " " && !rendition.isReversed ? Rendition(paper: rendition.paper) : rendition
    }

    /// `true` if the cell looks right as the terminal draws now: a blank in any colour of text.
    private func suits(_ cell: Cell) -> Bool {
        let wanted = visible(cell)
        guard wanted != rendition else { return true }
        return cell.text == " " && !wanted.isReversed && !rendition.isReversed
            && wanted.paper == rendition.paper
    }

    /// The first of the blanks at the end of a row that the terminal can clear at once; the end if they are
    /// few. Not with a background of ours, which some terminals do not clear in.
    private func trailingBlanks(of cells: [Cell]) -> Int {
        let blanks = cells.reversed().prefix { $0.text == " " && visible($0) == Rendition() }.count
        return blanks < 4 ? cells.count : cells.count - blanks
    }

    /// Writes the cells from the cursor up to `column` again if they look like the last one and take fewer
    /// bytes than a movement.
    private mutating func bridge(_ cells: [Cell], to column: Int, row: Int) {
        guard let cursor, cursor.row == row, cursor.column < column else { return }
        let gap = cells[cursor.column..<column]
        guard gap.count < movement(to: column, row: row).utf8.count,
            gap.allSatisfy({ isPlain($0) && suits($0) })
        else { return }
        for cell in gap { append(cell.text) }
        self.cursor = (column, row)
    }

    private mutating func move(to column: Int, row: Int) {
        if let cursor, cursor == (column, row) { return }
        append(movement(to: column, row: row))
        cursor = (column, row)
    }

    private func movement(to column: Int, row: Int) -> String { "\u{1B}[\(row + 1);\(column + 1)H" }

    private mutating func change(to next: Rendition) {
        guard next != rendition else { return }
        var values: [String] = []
        var last = rendition
        rendition = next
        guard next != Rendition() else { return append("\u{1B}[m") }
        // Bold and dim end together, so attributes end with all else.
        if last.isBold && !next.isBold || last.isDim && !next.isDim || last.isReversed && !next.isReversed {
            values.append("0")
            last = Rendition()
        }
        if next.isBold, !last.isBold { values.append("1") }
        if next.isDim, !last.isDim { values.append("2") }
        if next.isReversed, !last.isReversed { values.append("7") }
        if next.ink != last.ink { values.append(Self.value(of: next.ink, first: 30)) }
        if next.paper != last.paper { values.append(Self.value(of: next.paper, first: 40)) }
        append("\u{1B}[" + values.joined(separator: ";") + "m")
    }

    /// The parameters for a colour of text (`first` is 30) or behind it (40).
    private static func value(of color: ColorChoice, first: Int) -> String {
        switch color {
        case .standard: "\(first + 9)"
        case .index(let index) where index < 8: "\(first + index)"
        case .index(let index) where index < 16: "\(first + 60 + index - 8)"
        case .index(let index): "\(first + 8);5;\(index)"
        case .exact(let color): "\(first + 8);2;" + color.parts.map(String.init).joined(separator: ";")
        }
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }
}

/// The sequences for pictures on a terminal that has them. The cursor is at the picture's first cell.
struct ImageSequences: Sendable {
    var draw: @Sendable (ImagePlace) -> [UInt8]
    /// The cells under the picture are written again after it.
    var remove: @Sendable (ImagePlace) -> [UInt8]
}

/// The pictures to remove and to draw between two frames. Pure.
struct ImageChanges: Sendable, Equatable {
    /// Gone, moved, or resized.
    let removed: [ImagePlace]
    let drawn: [ImagePlace]

    init(from before: [ImagePlace], to now: [ImagePlace]) {
        removed = before.filter { !now.contains($0) }
        drawn = now.filter { !before.contains($0) }
    }
}
