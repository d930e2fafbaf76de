internal import Media

/// The bottom line: the text being typed, or else the reply to it, the player's newest message if unseen, or
/// hints.
enum BottomLineView {
    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        if let (sign, line) = state.typed {
            draw(line, behind: sign, row: row, into: &buffer)
        } else if let answer = state.answer {
            buffer.draw(answer.text, column: 0, row: row, style: answer.style)
        } else if let message = state.message {
            buffer.draw(message, column: 0, row: row, style: .notice)
        } else {
            drawHints(state, row: row, into: &buffer)
        }
    }

    private static func drawHints(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        var column = 0
        for hint in Hint.all(in: state.view, keyMap: state.keyMap, columns: buffer.columns) {
            column = buffer.draw(hint.key, column: column, row: row)
            column = buffer.draw(hint.word, column: column + 1, row: row, style: .dim) + 3
        }
    }

    /// Draws the text being typed after its label `sign`, with a symbol as the cursor; the terminal's own
    /// cursor stays hidden.
    private static func draw(
        _ line: CommandLine,
        behind sign: SafeText,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        // A long line is scrolled to the left, so that the cursor stays in view.
        let room = max(1, buffer.columns - 1 - sign.columns)
        var before = SafeText(String(line.parts.before.string.suffix(room)))
        while before.columns > room { before = SafeText(String(before.string.dropFirst())) }
        var column = buffer.draw(sign, column: 0, row: row, style: .prompt)
        column = buffer.draw(before, column: column, row: row, style: .prompt)
        column = buffer.draw(buffer.glyphs.cursor, column: column, row: row, style: .prompt)
        buffer.draw(line.parts.after, column: column, row: row, style: .prompt)
    }
}

/// A key that is useful in the open view, and a word for what it does.
private struct Hint {
    var key: SafeText
    var word: SafeText

    /// As many hints as fit, without commands that have no key.
    static func all(in view: ViewName, keyMap: KeyMap, columns: Int) -> [Hint] {
        var hints: [Hint] = []
        var end = 0
        for (command, word) in commands(in: view) {
            guard let key = keyMap.name(of: command), !hints.contains(where: { $0.key == key }) else {
                continue
            }
            end += key.columns + word.columns + (hints.isEmpty ? 1 : 4)
            guard end <= columns else { break }
            hints.append(Hint(key: key, word: word))
        }
        return hints
    }

    private static func commands(in view: ViewName) -> [(UICommand, SafeText)] {
        let own: [(UICommand, SafeText)]
        switch view {
        case .queue:
            own = [
                (.playSelected, "play"), (.search(nil), "search"), (.filter(nil), "filter"),
                (.toggleMark, "mark"), (.removeSelected, "remove"),
            ]
        case .cache:
            own = [(.playSelected, "add to queue"), (.removeSelected, "delete"), (.pinSelected, "pin")]
        case .playing: own = [(.player(.toggle), "pause"), (.player(.pin(nil)), "pin")]
        case .network, .messages, .help: own = [(.selectBy(1), "down"), (.selectBy(-1), "up")]
        }
        let help: [(UICommand, SafeText)] = view == .help ? [] : [(.toggleHelp, "help")]
        let leave: (UICommand, SafeText) = view == .queue ? (.nextView(by: 1), "views") : (.back, "back")
        return help + own + [leave, (.player(.quit), "quit")]
    }
}
