/// The rows of a window and what each of them shows, for any size, even 0×0.
///
/// A window with few rows drops the blank rows first, then the tabs, the list, the bar and the status.
package struct ScreenLayout: Sendable, Equatable {
    /// The fewest columns for readable lines; with fewer, only a symbol and the time are shown.
    private static let fewestColumns = 16
    /// The fewest rows with a blank row above and below the list, and with two rows for the bar.
    private static let fewestAiryRows = 16

    package let columns: Int
    package let rows: Int
    /// The columns between the margins of one column at the left and right.
    package let inner: Range<Int>
    /// `true` if the window is too small for lines.
    package let isTiny: Bool
    package let tabRow: Int?
    package private(set) var listRows: Range<Int>
    /// `true` if a box covers the last rows of the list.
    private(set) var isCovered = false
    /// The titles of the columns of a table: on the blank row above the list, if there is one.
    package let titleRow: Int?
    /// The blank row below the list, in which a view may draw a sum of its rows; `nil` without such a row.
    package let footRow: Int?
    /// The spectrum and the level meters; empty while they are hidden or if the list needs the rows.
    package let soundRows: Range<Int>
    package let nowPlayingRow: Int?
    /// One row, or two for a waveform in a high window; empty without a bar.
    package let barRows: Range<Int>
    package let statusRow: Int?
    /// Messages and hints, or the text being typed.
    package let messageRow: Int?

    package init(columns: Int, rows: Int, showsSound: Bool = false) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
        inner = 1..<max(1, self.columns - 1)
        isTiny = self.columns < Self.fewestColumns || self.rows < 2
        let lines = isTiny ? 0 : self.rows
        let air = lines >= Self.fewestAiryRows ? 1 : 0
        tabRow = lines >= 7 ? 0 : nil
        // From the bottom up, so that the most important rows stay in place.
        messageRow = lines >= 2 ? lines - 1 : nil
        statusRow = lines >= 3 ? lines - 2 : nil
        barRows = lines >= 4 ? lines - 3 - air..<lines - 2 : 0..<0
        let below = min(lines, 4 + air)
        nowPlayingRow = lines >= 2 ? lines - below : nil
        let first = tabRow == nil ? 0 : 1 + air
        let last = max(first, lines - below - air)
        let height = showsSound ? Self.soundHeight(besides: last - first) : 0
        soundRows = last - height..<last
        listRows = first..<last - height - (height > 0 ? air : 0)
        footRow = air > 0 ? listRows.upperBound : nil
        titleRow = air > 0 ? first - 1 : listRows.count < 4 ? nil : first
    }

    /// The rows of the spectrum: a third of `rows`, but enough to show differences in loudness; 0 if there is
    /// no room.
    private static func soundHeight(besides rows: Int) -> Int { rows < 8 ? 0 : max(3, rows / 3) }

    /// The layout of what stays in view above a box that begins at `row`.
    func covered(from row: Int) -> ScreenLayout {
        var layout = self
        layout.listRows = listRows.lowerBound..<min(max(listRows.lowerBound, row), listRows.upperBound)
        layout.isCovered = true
        return layout
    }

    /// The rows of a list below its column titles; a short list has no titles.
    package var tableRows: Range<Int> {
        titleRow == listRows.lowerBound ? listRows.dropFirst() : listRows
    }
}
