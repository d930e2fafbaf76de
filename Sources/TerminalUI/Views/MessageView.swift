internal import Media

/// The bottom line: what is typed, else the answer to it, else the player's newest message if it is unseen, else what
/// can be done.
struct MessageView {
    var glyphs: Glyphs

    func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        if let line = state.commandLine {
            draw(line, behind: ":", row: row, into: &buffer)
        } else if let prompt = state.prompt {
            draw(prompt.line, behind: prompt.kind.sign, row: row, into: &buffer)
        } else if let answer = state.answer {
            let style = answer.isError ? Style.error : .notice
            buffer.draw(answer.text, column: 0, row: row, style: style, ellipsis: glyphs.ellipsis)
        } else if let message = state.message {
            buffer.draw(message, column: 0, row: row, style: .notice, ellipsis: glyphs.ellipsis)
        } else {
            drawHints(state, row: row, into: &buffer)
        }
    }

    private func drawHints(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        var column = 0
        for part in HintLine.parts(in: state.view, keyMap: state.keyMap, columns: buffer.columns) {
            column = buffer.draw(part.key, column: column, row: row)
            column = buffer.draw(part.word, column: column + 1, row: row, style: .dim) + 3
        }
    }

    /// The terminal's own cursor stays hidden; a sign between the letters takes its place.
    private func draw(_ line: CommandLine, behind sign: SafeText, row: Int, into buffer: inout CellBuffer) {
        // What was typed first scrolls out at the left, so that the cursor stays in view.
        let room = max(1, buffer.columns - 1 - sign.columns)
        var before = SafeText(String(line.parts.before.string.suffix(room)))
        while before.columns > room { before = SafeText(String(before.string.dropFirst())) }
        var column = buffer.draw(sign, column: 0, row: row, style: .prompt, ellipsis: glyphs.ellipsis)
        column = buffer.draw(before, column: column, row: row, style: .prompt)
        column = buffer.draw(glyphs.cursor, column: column, row: row, style: .prompt)
        buffer.draw(line.parts.after, column: column, row: row, style: .prompt, ellipsis: glyphs.ellipsis)
    }
}
