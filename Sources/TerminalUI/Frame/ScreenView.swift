package import Media

/// The whole screen as cells.
package struct ScreenView: Sendable {
    package var glyphs: Glyphs
    /// Formats a time of the player's clock as the time of day, in eight columns.
    package var timeOfDay: @Sendable (Duration) -> SafeText = { SafeText($0.clockTime) }

    /// Draws `state` into a new buffer of the window's size, which can be any.
    package func draw(_ state: UIState) -> CellBuffer {
        let layout = state.layout
        var buffer = CellBuffer(columns: layout.columns, rows: layout.rows, glyphs: glyphs)
        guard !layout.isTiny else {
            TinyView.draw(state, into: &buffer)
            return buffer
        }
        if let row = layout.tabRow { TabView.draw(state, row: row, into: &buffer) }
        var context = state.context
        context.searched = state.lists.searched
        for view in state.lists.visible {
            // The next command acts on the last view, so only that one shows a selected row.
            buffer.replace(.selected, with: .plain, rows: layout.listRows)
            view.draw(context, timeOfDay: timeOfDay, into: &buffer)
        }
        if state.commandLine == nil, !state.view.isPopUp, state.view != .downloads {
            DownloadLine.draw(state.player, layout: layout, into: &buffer)
        }
        if let sound = state.sound {
            SoundView.draw(
                sound,
                showsMeters: state.showsLevels,
                rows: layout.soundRows,
                columns: layout.inner,
                into: &buffer
            )
        }
        if let row = layout.nowPlayingRow {
            NowPlayingView.draw(state, row: row, into: &buffer)
        }
        BarView.draw(
            state.player,
            pointer: state.barPointer,
            rows: layout.barRows,
            columns: layout.inner,
            into: &buffer
        )
        if let row = layout.statusRow {
            StatusView.draw(state, timeOfDay: timeOfDay, row: row, into: &buffer)
        }
        if let row = layout.messageRow { BottomLineView.draw(state, row: row, into: &buffer) }
        if let line = state.commandLine { PaletteView.draw(line, state, into: &buffer) }
        return buffer
    }
}

/// A window too small for lines: the symbol of the state, and as much of the position as fits.
private enum TinyView {
    static func draw(_ state: UIState, into buffer: inout CellBuffer) {
        if let (sign, line) = state.typed {
            // The end of the text, where the cursor is.
            let text = sign + line.parts.before + buffer.glyphs.cursor
            let end = SafeText(String(text.string.suffix(buffer.columns)))
            buffer.draw(end, column: 0, row: 0, style: .prompt)
            return
        }
        let player = state.player
        let sign = buffer.glyphs.sign(of: player.state)
        var column = buffer.draw(sign, column: 0, row: 0, style: .playing)
        let time = SafeText((player.isExact ? "" : "~") + player.position.clockTime)
        if buffer.columns > time.columns + 1 {
            column = buffer.draw(time, column: column + 1, row: 0)
        }
        if let answer = state.answer, buffer.rows > 1 {
            buffer.draw(answer.text, column: 0, row: 1, style: .error)
        }
    }
}
