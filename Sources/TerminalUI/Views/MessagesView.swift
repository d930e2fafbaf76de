internal import Media

extension ViewName {
    package static let messages = ViewName(word: "messages", help: "messages", isAbove: true, isPopUp: true)
}

/// The player's messages with their times, wrapped into lines, over the bottom of the view below. Pure.
package struct MessagesView: ListView {
    private struct Line {
        /// The message's number.
        var number: Int
        /// `nil` in the continuation lines of a message.
        var time: Duration?
        var text: SafeText
        var style: Style
    }

    static let name = ViewName.messages
    static let prompts = [Prompt.Kind.search]
    /// Columns for the time and the blanks around it.
    private static let timeColumns = 10

    package internal(set) var list = ListPosition()
    private var lines: [Line] = []
    private var newestNumber = 0
    private var box = PopUp()

    func rows(in layout: ScreenLayout) -> Range<Int> { box.rows }
    func columns(in layout: ScreenLayout) -> Range<Int> { box.columns }

    /// Wraps the messages to the window's width. If the last line is selected, the selection follows new
    /// ones.
    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        let messages = context.player.messages
        let number = messages.last?.number ?? 0
        let width = PopUp(over: context.layout, height: 1).columns.count
        let follows = list.isAtEnd
        let isChanged = number != newestNumber || width != box.columns.count
        if isChanged {
            newestNumber = number
            lines = messages.flatMap { message in
                message.text.wrapped(toColumns: max(8, width - Self.timeColumns)).enumerated().map {
                    Line(
                        number: message.number,
                        time: $0.offset == 0 ? message.time : nil,
                        text: $0.element,
                        style: message.isError ? .error : .normal
                    )
                }
            }
        }
        box = PopUp(over: context.layout, height: max(1, lines.count))
        resize(count: lines.count, in: context)
        if isChanged, follows { list.select(lines.count - 1) }
    }

    mutating func fit(to layout: ScreenLayout) {
        box = PopUp(over: layout, height: max(1, lines.count))
        list.resize(count: lines.count, height: box.rows.count)
    }

    var boxTop: Int? { box.top }

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
        box.draw(title: Self.name.title, into: &buffer)
        let columns = box.columns
        guard !lines.isEmpty else {
            return buffer.draw("No messages yet", in: columns, row: box.rows.lowerBound, style: .dim)
        }
        let room = columns.dropFirst(min(columns.count, Self.timeColumns))
        for (index, row) in zip(list.visible, box.rows) {
            let line = lines[index]
            if index == list.selected { buffer.lay(.selected, row: row) }
            if let time = line.time {
                buffer.draw(timeOfDay(time), in: columns.prefix(8), row: row, style: .dim)
            }
            buffer.draw(line.text, in: room, row: row, style: line.style)
            context.searched?.highlight(in: line.text, at: room, row: row, into: &buffer)
        }
    }
}
