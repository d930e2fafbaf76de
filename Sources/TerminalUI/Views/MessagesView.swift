package import Media

/// The player's messages, wrapped into lines, and which of them the user has seen. Pure.
package struct MessagesViewState: Sendable {
    package struct Line: Sendable, Equatable {
        /// `nil` in the continuation lines of a message.
        package var time: Duration?
        package var text: SafeText
    }

    /// Columns for the time and the blanks around it.
    package static let timeColumns = 10

    package internal(set) var list = ListPosition()
    package private(set) var lines: [Line] = []
    private var newest: PlayerMessage?
    private var columns = 0
    /// The number of the newest message that was visible when a key was pressed.
    private var seenNumber = 0

    /// The newest message, until `markSeen`.
    package var unseen: SafeText? { newest.flatMap { $0.number == seenNumber ? nil : $0.text } }

    /// The number of the newest message; 0 before the first.
    var newestNumber: Int { newest?.number ?? 0 }

    mutating func markSeen() { seenNumber = newestNumber }

    /// Wraps the messages to a window's width. If the last line is selected, the selection follows new ones.
    mutating func show(_ messages: [PlayerMessage], columns: Int) {
        guard messages.last?.number != newest?.number || columns != self.columns else { return }
        newest = messages.last
        self.columns = columns
        let follows = list.isAtEnd
        lines = messages.flatMap { message in
            message.text.wrapped(toColumns: max(8, columns - Self.timeColumns - 1)).enumerated().map {
                Line(time: $0.offset == 0 ? message.time : nil, text: $0.element)
            }
        }
        list.resize(count: lines.count, height: list.height)
        if follows { list.select(lines.count - 1) }
    }
}

/// Draws the player's messages with their times.
enum MessagesView {
    static func draw(
        _ state: MessagesViewState,
        rows: Range<Int>,
        timeOfDay: (Duration) -> SafeText,
        into buffer: inout CellBuffer
    ) {
        guard !state.lines.isEmpty else { return buffer.drawPlaceholder("No messages yet", rows: rows) }
        for (index, row) in zip(state.list.visible, rows) {
            let line = state.lines[index]
            let isSelected = index == state.list.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            if let time = line.time {
                let style = isSelected ? Style.selected : .dim
                buffer.draw(timeOfDay(time), column: 1, row: row, limit: 8, style: style)
            }
            let style = isSelected ? Style.selected : .normal
            buffer.draw(line.text, column: MessagesViewState.timeColumns, row: row, style: style)
        }
    }
}
