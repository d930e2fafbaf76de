/// The selected row of a list and the rows in view.
///
/// Consists of numbers only, so its cost does not depend on the length of the list.
package struct ListPosition: Sendable, Equatable {
    /// The selected row, from 0; 0 in an empty list.
    package private(set) var selected = 0
    /// The first row in view.
    package private(set) var top = 0
    /// The number of rows in the list.
    package private(set) var count = 0
    /// The number of rows that fit on the screen.
    package private(set) var height = 0

    /// The rows to draw.
    package var visible: Range<Int> { top..<min(count, top + height) }

    /// `true` if some rows are out of view.
    var isCut: Bool { count > height }

    /// The number of the page in view, counted from 1, and of all pages; the last page is any with the last
    /// row.
    var page: (number: Int, count: Int) {
        guard height > 0, isCut else { return (1, 1) }
        let pages = (count + height - 1) / height
        return (top + height >= count ? pages : min(top / height + 1, pages - 1), pages)
    }

    /// `12 of `, the selected row of a list that is longer than the window; else empty.
    var placeText: String { isCut ? "\(selected + 1) of " : "" }

    /// `true` if the last row is selected or the list is empty: then the selection follows new rows.
    package var isAtEnd: Bool { selected >= count - 1 }

    /// Selects `row`, or the nearest existing one, and scrolls no further than needed.
    package mutating func select(_ row: Int) {
        selected = max(0, min(row, count - 1))
        settle()
    }

    package mutating func select(by rows: Int) { select(selected + rows) }

    /// Scrolls; the selection moves only if it would be out of view.
    package mutating func scroll(by rows: Int) {
        top = max(0, min(top + rows, count - height))
        guard !visible.isEmpty else { return }
        selected = max(visible.lowerBound, min(selected, visible.upperBound - 1))
    }

    package mutating func resize(count: Int, height: Int) {
        self.count = max(0, count)
        self.height = max(0, height)
        select(selected)
    }

    /// Selects `row`, with `context` rows of the list in view above and below it, if there is room.
    mutating func select(_ row: Int, context: Int) {
        select(row)
        let margin = max(0, min(context, (height - 1) / 2))
        if selected - margin < top { top = selected - margin }
        if selected + margin >= top + height { top = selected + margin - height + 1 }
        top = max(0, min(top, count - height))
    }

    /// The list has `count` rows now, and the selected row has become `row`: it stays where it is on the
    /// screen.
    mutating func refit(count: Int, selecting row: Int) {
        self.count = max(0, count)
        top += row - selected
        select(row)
    }

    private mutating func settle() {
        if selected < top { top = selected }
        if selected >= top + height { top = selected - max(0, height - 1) }
        // When a list shrinks or a window grows, rows above fill the room below the last row.
        top = max(0, min(top, count - height))
    }
}
