/// What the mouse did, at a cell of the window.
package struct MouseEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The left button went down.
        case press
        /// The left button went down a second time, at once and in the same place; it follows a `press`.
        case doublePress
        case wheelUp
        case wheelDown
    }

    package var kind: Kind
    /// From 0, at the left.
    package var column: Int
    /// From 0, at the top.
    package var row: Int

    package init(_ kind: Kind, column: Int, row: Int) {
        self.kind = kind
        self.column = column
        self.row = row
    }
}
