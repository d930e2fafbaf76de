internal import Media

/// What a window without room for lines shows: a sign, and as much more as fits.
struct TinyView {
    var glyphs: Glyphs

    func draw(_ state: UIState, into buffer: inout CellBuffer) {
        if let (sign, line) = typed(in: state) {
            let text = sign + line.parts.before + glyphs.cursor
            buffer.draw(tail(of: text, columns: buffer.columns), column: 0, row: 0, style: .prompt)
            return
        }
        let player = state.player
        let sign = glyphs.sign(of: player.state)
        var column = buffer.draw(sign, column: 0, row: 0, style: .playing, ellipsis: glyphs.ellipsis)
        let time = SafeText((player.isExact ? "" : "~") + player.position.clockTime)
        if buffer.columns > time.columns + 1 {
            column = buffer.draw(time, column: column + 1, row: 0)
        }
        if let answer = state.answer, buffer.rows > 1 {
            buffer.draw(answer.text, column: 0, row: 1, style: .error, ellipsis: glyphs.ellipsis)
        }
    }

    private func typed(in state: UIState) -> (sign: SafeText, line: CommandLine)? {
        if let line = state.commandLine { return (":", line) }
        return state.prompt.map { ($0.kind.sign, $0.line) }
    }

    /// The end of a text, which is where one types.
    private func tail(of text: SafeText, columns: Int) -> SafeText {
        SafeText(String(text.string.suffix(max(0, columns))))
    }
}
