package import Media

/// The whole screen as cells.
package struct ScreenView: Sendable {
    package var glyphs: Glyphs
    /// Formats a time of the player's clock as the time of day, in eight columns.
    package var timeOfDay: @Sendable (Duration) -> SafeText

    package init(
        glyphs: Glyphs,
        timeOfDay: @escaping @Sendable (Duration) -> SafeText = { SafeText($0.clockTime) }
    ) {
        self.glyphs = glyphs
        self.timeOfDay = timeOfDay
    }

    /// Draws `state` into a new buffer of the window's size, which can be any.
    package func draw(_ state: UIState) -> CellBuffer {
        var buffer = CellBuffer(columns: state.layout.columns, rows: state.layout.rows)
        guard !state.layout.isTiny else {
            TinyView(glyphs: glyphs).draw(state, into: &buffer)
            return buffer
        }
        if let row = state.layout.tabRow { TabView(glyphs: glyphs).draw(state, row: row, into: &buffer) }
        drawList(state, into: &buffer)
        if let sound = state.sound {
            SoundView(glyphs: glyphs).draw(sound, rows: state.layout.soundRows, into: &buffer)
        }
        if let row = state.layout.nowPlayingRow {
            NowPlayingView(glyphs: glyphs, showsRemainingTime: state.showsRemainingTime)
                .draw(state.player, row: row, into: &buffer)
        }
        if let row = state.layout.barRow {
            BarView(glyphs: glyphs).draw(state.player, row: row, into: &buffer)
        }
        if let row = state.layout.statusRow {
            StatusView(glyphs: glyphs).draw(state, row: row, into: &buffer)
        }
        if let row = state.layout.messageRow {
            BottomLineView(glyphs: glyphs).draw(state, row: row, into: &buffer)
        }
        return buffer
    }

    private func drawList(_ state: UIState, into buffer: inout CellBuffer) {
        let layout = state.layout
        let rows = layout.listRows
        switch state.view {
        case .queue:
            QueueView(glyphs: glyphs).draw(state.queue, of: state.player, rows: rows, into: &buffer)
        case .playing:
            PlayingView(glyphs: glyphs).draw(state.player, at: state.playing, rows: rows, into: &buffer)
        case .cache: CacheView(glyphs: glyphs).draw(state.cache, layout: layout, into: &buffer)
        case .network:
            NetworkView(glyphs: glyphs, timeOfDay: timeOfDay)
                .draw(state.network, layout: layout, into: &buffer)
        case .messages:
            MessagesView(glyphs: glyphs, timeOfDay: timeOfDay)
                .draw(state.messages, rows: rows, into: &buffer)
        case .help:
            HelpView(glyphs: glyphs).draw(state.keyMap, at: state.help, rows: rows, into: &buffer)
        }
    }
}

/// A window too small for lines: the symbol of the state, and as much of the position as fits.
private struct TinyView {
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

    /// The end of a text, where the cursor is.
    private func tail(of text: SafeText, columns: Int) -> SafeText {
        SafeText(String(text.string.suffix(max(0, columns))))
    }
}
