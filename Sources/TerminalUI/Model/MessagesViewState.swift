package import Media

/// The player's messages as the screen shows them, the oldest first, each as long as it is. Pure.
package struct MessagesViewState: Sendable {
    package struct Line: Sendable, Equatable {
        /// nil in the lines that go on with a message.
        package var time: Duration?
        package var text: SafeText
    }

    /// Columns for the time and the space behind it.
    package static let timeColumns = 10

    package internal(set) var list = ListPosition()
    package private(set) var lines: [Line] = []
    private var shown: (number: Int, columns: Int) = (0, 0)

    /// New messages are followed while the last line is selected.
    mutating func show(_ messages: [PlayerMessage], columns: Int) {
        let newest = messages.last?.number ?? 0
        guard newest != shown.number || columns != shown.columns else { return }
        shown = (newest, columns)
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
