/// Which rows of a window show what, for any size from 1×1 (or none) on.
///
/// A window that loses rows loses the least needed first: the air, the tabs, the list, the bar, the status.
package struct ScreenLayout: Sendable, Equatable {
    /// Fewer columns hold no line that says anything: a sign and the time are shown instead.
    static let fewestColumns = 16
    /// From so many rows on an empty one above and below the list costs nothing.
    static let fewestAiryRows = 16

    package let columns: Int
    package let rows: Int
    /// Whether the window is too small for lines.
    package let isTiny: Bool
    package let tabRow: Int?
    package let listRows: Range<Int>
    /// The picture of the sound; empty while it is hidden, and where the list has no row to spare.
    package let soundRows: Range<Int>
    package let nowPlayingRow: Int?
    package let barRow: Int?
    package let statusRow: Int?
    /// Messages, and the command line while it is typed.
    package let messageRow: Int?

    package init(columns: Int, rows: Int, showsSound: Bool = false) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
        isTiny = self.columns < Self.fewestColumns || self.rows < 2
        let lines = isTiny ? 0 : self.rows
        let air = lines >= Self.fewestAiryRows ? 1 : 0
        tabRow = lines >= 7 ? 0 : nil
        // From the bottom up, so that what is looked at most stays where it is.
        messageRow = lines >= 2 ? lines - 1 : nil
        statusRow = lines >= 3 ? lines - 2 : nil
        barRow = lines >= 4 ? lines - 3 : nil
        let below = min(lines, 4)
        nowPlayingRow = lines >= 2 ? lines - below : nil
        let first = tabRow == nil ? 0 : 1 + air
        let last = max(first, lines - below - air)
        let height = showsSound ? Self.soundHeight(besides: last - first) : 0
        soundRows = last - height..<last
        listRows = first..<last - height - (height > 0 ? air : 0)
    }

    /// A third of what a list would have, and enough to tell loud from soft.
    private static func soundHeight(besides rows: Int) -> Int { rows < 8 ? 0 : min(8, max(3, rows / 3)) }

    /// The rows of a list below a line of titles, which a short list does without.
    package var tableRows: Range<Int> {
        listRows.count < 4 ? listRows : listRows.lowerBound + 1..<listRows.upperBound
    }
}
