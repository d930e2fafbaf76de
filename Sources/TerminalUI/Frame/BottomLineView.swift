internal import Media

/// The bottom line: the text being typed, or else the reply to it, the player's newest message if unseen, or
/// hints.
enum BottomLineView {
    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let rows = rows(in: state, last: row)
        let columns = state.layout.inner
        if let (sign, line) = state.typed {
            let end = draw(line, behind: sign, in: columns, row: row, into: &buffer)
            guard state.prompt?.kind == .search, let place = state.lists.searchPlace,
                end + 2 + place.columns <= columns.upperBound
            else { return }
            buffer.draw(place, column: columns.upperBound - place.columns, row: row, style: .dim)
        } else if let answer = state.answer {
            NoticeView.draw(answer.text, rows: rows, columns: columns, style: answer.style, into: &buffer)
        } else if let message = state.message {
            NoticeView.draw(
                message.text,
                rows: rows,
                columns: columns,
                style: message.isError ? .error : .notice,
                keyForAll: state.keyMap.name(of: .show(.messages)),
                into: &buffer
            )
        } else {
            drawHints(state, row: row, into: &buffer)
        }
    }

    /// A text may cover the status line too, except while the player waits: then the status line shows the
    /// reason.
    private static func rows(in state: UIState, last row: Int) -> ClosedRange<Int> {
        let isWaiting = [.opening, .buffering].contains(state.player.state)
        return (isWaiting ? row : state.layout.statusRow ?? row)...row
    }

    /// The rows that the player's message covers; `nil` if it shows none.
    static func messageRows(in state: UIState) -> ClosedRange<Int>? {
        guard state.typed == nil, state.answer == nil, let message = state.message,
            let row = state.layout.messageRow
        else { return nil }
        let width = state.layout.inner.count
        return NoticeView.lines(of: message.text, within: rows(in: state, last: row), width: width).rows
    }

    private static func drawHints(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        var column = state.layout.inner.lowerBound
        for hint in Hint.all(of: state, columns: state.layout.inner.count) {
            column = buffer.draw(hint.key, column: column, row: row, style: .title)
            column = buffer.draw(hint.word, column: column + 1, row: row, style: .faint) + 3
        }
    }

    /// Draws the text being typed after its label `sign`, with a symbol as the cursor; the terminal's own
    /// cursor stays hidden. Returns the column after it.
    private static func draw(
        _ line: CommandLine,
        behind sign: SafeText,
        in columns: Range<Int>,
        row: Int,
        into buffer: inout CellBuffer
    ) -> Int {
        // A long line is scrolled to the left, so that the cursor stays in view.
        let room = max(1, columns.count - 1 - sign.columns)
        var before = SafeText(String(line.parts.before.string.suffix(room)))
        while before.columns > room { before = SafeText(String(before.string.dropFirst())) }
        var column = buffer.draw(sign, column: columns.lowerBound, row: row, style: .prompt)
        column = buffer.draw(before, column: column, row: row, style: .prompt)
        column = buffer.draw(buffer.glyphs.cursor, column: column, row: row, style: .prompt)
        let limit = columns.upperBound - column
        return buffer.draw(line.parts.after, column: column, row: row, limit: limit, style: .prompt)
    }
}

/// A message or an answer at the bottom of the screen.
enum NoticeView {
    /// The fewest columns of a window in which the key is shown; a narrower one needs them for the text.
    private static let leastForKey = 40

    /// The lines of `text`, and those of `rows` that they take, from the last one up.
    static func lines(of text: SafeText, within rows: ClosedRange<Int>, width: Int) -> (
        lines: [SafeText], rows: ClosedRange<Int>
    ) {
        let lines = text.columns <= width ? [text] : text.wrapped(toColumns: width)
        return (lines, max(rows.lowerBound, rows.upperBound - lines.count + 1)...rows.upperBound)
    }

    /// Draws `text` within `columns` of the last of `rows`, or of as many of them as it needs.
    ///
    /// A text too long for all of them ends with an ellipsis and, if `keyForAll` shows the whole text, with
    /// that key.
    static func draw(
        _ text: SafeText,
        rows: ClosedRange<Int>,
        columns: Range<Int>,
        style: Style,
        keyForAll: SafeText? = nil,
        into buffer: inout CellBuffer
    ) {
        let width = max(1, columns.count)
        let (lines, rows) = Self.lines(of: text, within: rows, width: width)
        for (row, line) in zip(rows, lines) {
            buffer.clear(row: row)
            buffer.draw(line, column: columns.lowerBound, row: row, style: style)
        }
        guard lines.count > rows.count else { return }
        let rest = lines[(rows.count - 1)...].map(\.string).joined(separator: " ")
        let all: SafeText = width < leastForKey ? "" : keyForAll.map { " " + $0 + " shows all" } ?? ""
        buffer.clear(row: rows.upperBound)
        let end = buffer.draw(
            SafeText(rest),
            column: columns.lowerBound,
            row: rows.upperBound,
            limit: width - all.columns,
            style: style
        )
        buffer.draw(all, column: end, row: rows.upperBound, style: style)
    }
}

/// A key that is useful in the open view, and a word for what it does.
private struct Hint {
    var key: SafeText
    var word: SafeText

    /// As many hints as fit, without commands that have no key. In a narrow window those of the help, the
    /// main key of the view, the key to quit and the one to leave the view come before all others.
    static func all(of state: UIState, columns: Int) -> [Hint] {
        var hints: [Hint] = []
        for (command, word) in commands(in: state) {
            guard let key = state.keyMap.name(of: command), !hints.contains(where: { $0.key == key }) else {
                continue
            }
            hints.append(Hint(key: key, word: word))
        }
        let last = hints.count - 1
        var shown: Set<Int> = []
        for place in [0, 1, last, last - 1] + hints.indices where hints.indices.contains(place) {
            let wider = shown.union([place])
            if width(of: wider.map { hints[$0] }) <= columns { shown = wider }
        }
        return shown.sorted().map { hints[$0] }
    }

    /// A blank after each key, and three between the hints.
    private static func width(of hints: [Hint]) -> Int {
        hints.reduce(-3) { $0 + $1.key.columns + 1 + $1.word.columns + 3 }
    }

    private static func commands(in state: UIState) -> [(UICommand, SafeText)] {
        let help: [(UICommand, SafeText)] = state.view == .help ? [] : [(.toggleHelp, "help")]
        let leave: (UICommand, SafeText) =
            state.view == .queue ? (.nextView(by: 1), "views") : (.back, "back")
        return help + state.lists.current.hints(in: state.player) + [leave, (.closeOrQuit, "quit")]
    }
}
