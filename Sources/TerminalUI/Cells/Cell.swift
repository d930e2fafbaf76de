/// One column of one row.
///
/// Made only from safe text by `CellBuffer`, so that no cell can hold a control character.
package struct Cell: Sendable, Equatable {
    /// The character with the marks on it; empty in the second half of a wide one.
    package let text: String
    /// 1 or 2; 0 for the second half of a wide character.
    package let width: Int
    package let style: Style

    init(_ cluster: TextCluster, style: Style) {
        text = cluster.text
        width = cluster.width
        self.style = style
    }

    private init(text: String, width: Int, style: Style) {
        self.text = text
        self.width = width
        self.style = style
    }

    static func blank(_ style: Style) -> Cell { Cell(text: " ", width: 1, style: style) }

    static func secondHalf(_ style: Style) -> Cell { Cell(text: "", width: 0, style: style) }
}
