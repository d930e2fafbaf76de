internal import Media

/// The whole screen as cells.
package struct ScreenView: Sendable {
    package var glyphs: Glyphs

    package init(glyphs: Glyphs) { self.glyphs = glyphs }

    /// Draws `state` into a new buffer of the window's size; any size will do.
    package func draw(_ state: UIState) -> CellBuffer {
        var buffer = CellBuffer(columns: state.layout.columns, rows: state.layout.rows)
        guard !state.layout.isTiny else {
            TinyView(glyphs: glyphs).draw(state, into: &buffer)
            return buffer
        }
        drawTitle(state, into: &buffer)
        switch state.mode {
        case .queue:
            QueueView(glyphs: glyphs).draw(
                state.player,
                at: state.queue,
                rows: state.layout.listRows,
                into: &buffer
            )
        case .help:
            HelpView(glyphs: glyphs)
                .draw(state.keyMap, at: state.help, rows: state.layout.listRows, into: &buffer)
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
            MessageView(glyphs: glyphs).draw(state, row: row, into: &buffer)
        }
        return buffer
    }

    private func drawTitle(_ state: UIState, into buffer: inout CellBuffer) {
        guard let row = state.layout.titleRow else { return }
        let title: SafeText
        switch state.mode {
        case .queue:
            let count = state.player.tracks.count
            title = SafeText("Reprise  \(count) \(count == 1 ? "track" : "tracks")")
        case .help: title = "Reprise  keys"
        }
        buffer.fill(row: row, style: .title)
        buffer.draw(title, column: 1, row: row, style: .title, ellipsis: glyphs.ellipsis)
        let hint: SafeText = state.mode == .help ? "? back" : "? help"
        let column = buffer.columns - hint.columns - 1
        if column > title.columns + 2 { buffer.draw(hint, column: column, row: row, style: .title) }
    }
}
