/// Which rows of a window show what, for any size from 1×1 (or none) on.
///
/// A window that loses rows loses the least needed first: the title, the list, the bar, the status.
package struct ScreenLayout: Sendable, Equatable {
    /// Fewer columns hold no line that says anything: a sign and the time are shown instead.
    static let fewestColumns = 16

    package let columns: Int
    package let rows: Int
    /// Whether the window is too small for lines.
    package let isTiny: Bool
    package let titleRow: Int?
    package let listRows: Range<Int>
    package let nowPlayingRow: Int?
    package let barRow: Int?
    package let statusRow: Int?
    /// Messages, and the command line while it is typed.
    package let messageRow: Int?

    package init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
        isTiny = self.columns < Self.fewestColumns || self.rows < 2
        let lines = isTiny ? 0 : self.rows
        titleRow = lines >= 8 ? 0 : nil
        // From the bottom up, so that what is looked at most stays where it is.
        messageRow = lines >= 2 ? lines - 1 : nil
        statusRow = lines >= 3 ? lines - 2 : nil
        barRow = lines >= 4 ? lines - 3 : nil
        let below = min(lines, 4)
        nowPlayingRow = lines >= 2 ? lines - below : nil
        let first = titleRow == nil ? 0 : 1
        listRows = first..<max(first, lines - below)
    }
}
