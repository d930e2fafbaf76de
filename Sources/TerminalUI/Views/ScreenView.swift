package import Media

/// The whole screen as cells.
package struct ScreenView: Sendable {
    package var glyphs: Glyphs
    /// A moment of the player's clock as people read it, in eight columns.
    package var timeOfDay: @Sendable (Duration) -> SafeText

    package init(
        glyphs: Glyphs,
        timeOfDay: @escaping @Sendable (Duration) -> SafeText = { SafeText($0.clockTime) }
    ) {
        self.glyphs = glyphs
        self.timeOfDay = timeOfDay
    }

    /// Draws `state` into a new buffer of the window's size; any size will do.
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
            MessageView(glyphs: glyphs).draw(state, row: row, into: &buffer)
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
