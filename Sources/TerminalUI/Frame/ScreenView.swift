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
        let palette = PaletteView(of: state)
        context.layout = palette?.layoutAbove ?? layout
        var views = state.lists.visible
        for place in views.indices.reversed() {
            if context.layout.isCovered { views[place].fit(to: context.layout) }
            if let top = views[place].boxTop { context.layout = context.layout.covered(from: top) }
        }
        let body = (layout.tabRow ?? -1) + 1..<max(layout.footRow ?? 0, layout.listRows.upperBound - 1) + 1
        for (place, view) in views.enumerated() {
            view.draw(context, timeOfDay: timeOfDay, into: &buffer)
            if place < views.count - 1 { buffer.fade(rows: body, keepsChosen: false) }
        }
        // The command acts on the rows that are chosen, and its argument may change how all of them look.
        if palette?.offersNames == true { buffer.fade(rows: body, keepsChosen: true) }
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
        palette?.draw(into: &buffer)
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
