internal import Media

/// The top line: the views there are, the open one standing out, and at the right how much it shows.
struct TabView {
    var glyphs: Glyphs

    func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let line = TabLine(open: state.view, columns: buffer.columns)
        for tab in line.tabs {
            buffer.draw(
                tab.text,
                column: tab.columns.lowerBound,
                row: row,
                style: tab.view == state.view ? .title : .dim,
                ellipsis: glyphs.ellipsis
            )
        }
        let text = amount(state)
        let column = buffer.columns - text.columns - 1
        if column > line.end + 1 { buffer.draw(text, column: column, row: row, style: .dim) }
    }

    private func amount(_ state: UIState) -> SafeText {
        switch state.view {
        case .queue: queueAmount(state)
        case .cache:
            SafeText(
                "\(Self.count(state.cache.entries.count, "piece")), "
                    + ByteText.text(state.cache.entries.reduce(0) { $0 &+ $1.stored.byteCount })
            )
        case .network: SafeText(Self.count(state.network.recordCount, "entry", "entries"))
        case .messages: SafeText(Self.count(state.player.messages.count, "message"))
        case .playing, .help: ""
        }
    }

    /// `9 tracks`, `12 of 9`, with more to come while the filter looks on.
    private func queueAmount(_ state: UIState) -> SafeText {
        let all = state.player.tracks.count
        guard let filter = state.queue.filter else { return SafeText(Self.count(all, "track")) }
        let more = filter.hasWork(in: state.player) ? glyphs.more : ""
        return SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }
}
