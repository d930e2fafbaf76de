internal import Media

extension ViewName {
    package static let messages = ViewName(word: "messages", help: "messages")
}

/// The player's messages with their times, wrapped into lines. Pure.
package struct MessagesView: ListView {
    private struct Line {
        /// The message's number.
        var number: Int
        /// `nil` in the continuation lines of a message.
        var time: Duration?
        var text: SafeText
    }

    static let name = ViewName.messages
    static let prompts = [Prompt.Kind.search]
    /// Columns for the time and the blanks around it.
    private static let timeColumns = 10

    package internal(set) var list = ListPosition()
    private var lines: [Line] = []
    private var newestNumber = 0
    private var columns = 0

    /// Wraps the messages to the window's width. If the last line is selected, the selection follows new
    /// ones.
    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        resize(count: list.count, in: context)
        let messages = context.player.messages
        let number = messages.last?.number ?? 0
        guard number != newestNumber || context.layout.columns != columns else { return }
        newestNumber = number
        columns = context.layout.columns
        let follows = list.isAtEnd
        lines = messages.flatMap { message in
            message.text.wrapped(toColumns: max(8, columns - Self.timeColumns - 1)).enumerated().map {
                Line(number: message.number, time: $0.offset == 0 ? message.time : nil, text: $0.element)
            }
        }
        resize(count: lines.count, in: context)
        if follows { list.select(lines.count - 1) }
    }

    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool {
        matcher.matches(lines[item].text.string)
    }

    func facts(in context: ViewContext) -> [Fact] {
        guard lines.indices.contains(list.selected),
            let message = context.player.messages.first(where: { $0.number == lines[list.selected].number })
        else { return [] }
        return [Fact(name: "Message", text: message.text)]
    }

    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        [SafeText(CountText.of(context.player.messages.count, "message"))]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let rows = context.layout.listRows
        guard !lines.isEmpty else { return buffer.drawPlaceholder("No messages yet", rows: rows) }
        for (index, row) in zip(list.visible, rows) {
            let line = lines[index]
            if index == list.selected { buffer.lay(.selected, row: row) }
            if let time = line.time {
                buffer.draw(timeOfDay(time), column: 1, row: row, limit: 8, style: .dim)
            }
            let room = Self.timeColumns..<max(Self.timeColumns, buffer.columns)
            buffer.draw(line.text, in: room, row: row, style: .normal)
            context.searched?.highlight(in: line.text, at: room, row: row, into: &buffer)
        }
    }
}
