internal import Media

/// Draws the queue; creates only the rows in view.
enum QueueTable {
    static func draw(_ state: QueueView, _ context: ViewContext, into buffer: inout CellBuffer) {
        let player = context.player
        let rows = context.layout.listRows
        guard state.list.count > 0 else {
            guard let text = emptyText(state, player, buffer.glyphs) else {
                return WelcomeView.draw(context.keyMap, rows: rows, into: &buffer)
            }
            return buffer.drawPlaceholder(text, rows: rows)
        }
        let items = state.list.visible.map { row in
            let place = state.place(ofRow: row)
            let isMarked = !state.marks.isEmpty && state.marks.contains(player.tracks[place].id)
            return QueueRow(player, index: place, isMarked: isMarked, glyphs: buffer.glyphs)
        }
        let columns = QueueColumns(columns: buffer.columns, count: player.tracks.count, rows: items)
        for (offset, (item, row)) in zip(items, rows).enumerated() {
            let isSelected = state.list.top + offset == state.list.selected
            draw(item, columns, row: row, isSelected: isSelected, into: &buffer)
            guard let matcher = state.filter?.matcher, item.failure.isEmpty else { continue }
            for (text, place) in texts(of: item, columns, buffer.glyphs) {
                matcher.highlight(in: text, at: place, row: row, into: &buffer)
            }
        }
    }

    /// The texts that a filter looks through, with their columns.
    private static func texts(of item: QueueRow, _ columns: QueueColumns, _ glyphs: Glyphs) -> [(
        SafeText, Range<Int>
    )] {
        guard let artist = columns.artist else { return [(item.name(glyphs), columns.title)] }
        return [(item.title, columns.title), (item.artist, artist)]
    }

    private static func draw(
        _ item: QueueRow,
        _ columns: QueueColumns,
        row: Int,
        isSelected: Bool,
        into buffer: inout CellBuffer
    ) {
        let style = isSelected ? Style.selected : item.style
        let quiet = isSelected ? Style.selected : .dim
        if isSelected { buffer.fill(row: row, style: .selected) }
        buffer.draw(item.mark, column: 0, row: row, style: style)
        if item.isMarked {
            buffer.draw(buffer.glyphs.mark, column: 1, row: row, style: isSelected ? .selected : .marked)
        }
        if item.isChecked {
            let column = item.isMarked ? columns.check ?? 1 : 1
            buffer.draw(buffer.glyphs.heard, column: column, row: row, style: quiet)
        }
        func drawRight(_ text: SafeText, in columns: Range<Int>?) {
            guard let columns else { return }
            buffer.draw(text, in: columns, row: row, style: quiet, isRightAligned: true)
        }
        drawRight(SafeText("\(item.number)"), in: columns.number)
        drawRight(item.date, in: columns.date)
        if item.failure.isEmpty {
            for (text, place) in texts(of: item, columns, buffer.glyphs) {
                buffer.draw(text, in: place, row: row, style: place == columns.title ? style : quiet)
            }
        } else {
            // The name gives way to the reason for the failure, but some of it always stays.
            let start = columns.title.lowerBound
            let end = (columns.artist ?? columns.title).upperBound
            let room = max(QueueColumns.leastForTitle, end - start - item.failure.columns - 3)
            let name = columns.artist == nil ? item.name(buffer.glyphs) : item.title
            let nameEnd = buffer.draw(
                name,
                column: start,
                row: row,
                limit: min(room, end - start),
                style: style
            )
            if nameEnd + 3 < end { buffer.draw(item.failure, in: nameEnd + 3..<end, row: row, style: style) }
        }
        if let pin = columns.pin, item.isPinned {
            buffer.draw(buffer.glyphs.pin, column: pin, row: row, style: quiet)
        }
        if let map = columns.map {
            RangeBar.draw(item.map, column: map, row: row, isSelected: isSelected, into: &buffer)
        }
        drawRight(item.duration, in: columns.duration)
    }

    /// The reason why no row is shown; `nil` if there is no track at all.
    private static func emptyText(
        _ state: QueueView,
        _ player: PlayerSnapshot,
        _ glyphs: Glyphs
    ) -> SafeText? {
        if let filter = state.filter {
            if filter.hasWork(in: player) { return "Searching" + glyphs.more }
            return SafeText("No match for \"\(filter.text)\"")
        }
        return player.state == .opening ? "Reading the playlist" + glyphs.more : nil
    }
}

/// The ways to fill an empty queue, and what can be opened.
private enum WelcomeView {
    private static let ways: [(command: UICommand?, words: SafeText)] = [
        (nil, "a URL or a path, to add it"),
        (.openCommandLine("add "), "type a URL, a file or a folder (Tab completes)"),
        (.show(.cache), "choose from the cached tracks"),
    ]

    private static let examples: [(name: SafeText, words: SafeText)] = [
        ("album.m3u8", "playlists: M3U, PLS, XSPF"), ("/music/", "a folder on a web server"),
        ("feed.rss", "a podcast, or an OPML file of podcasts"),
        (":8000/live", "a radio stream, with its titles"),
        ("~/Music", "files on this machine"),
    ]

    static func draw(_ keyMap: KeyMap, rows: Range<Int>, into buffer: inout CellBuffer) {
        buffer.drawPlaceholder("The queue is empty. To begin:", rows: rows, style: .normal)
        var row = rows.lowerBound + 2
        func draw(_ name: SafeText, _ words: SafeText, column: Int) {
            guard row < rows.upperBound else { return }
            buffer.draw(name, column: column, row: row)
            buffer.draw(words, column: 16, row: row, style: .dim)
            row += 1
        }
        for (command, words) in ways {
            let name = command.map { keyMap.name(of: $0) } ?? "paste"
            if let name { draw(name, words, column: max(1, 14 - name.columns)) }
        }
        row += 1
        guard row + examples.count < rows.upperBound else { return }
        buffer.draw("What it opens", column: 1, row: row)
        row += 2
        for (name, words) in examples { draw(name, words, column: 3) }
    }
}

/// The columns of a row, for a window's width and the rows in view. Pure.
///
/// The narrower the window, the more columns are dropped: first the artist's own, then an episode's date and
/// the map of the cached bytes, then the duration. The title always stays.
struct QueueColumns: Equatable {
    /// The fewest columns of a window for a column with the artists.
    private static let leastForArtist = 100
    private static let leastForMap = 60
    private static let leastForDate = 60
    fileprivate static let leastForTitle = 12

    /// The column for the check of episodes that are marked too; `nil` if no row has both signs beside its
    /// first one.
    let check: Int?
    let number: Range<Int>
    /// The days of episodes.
    var date: Range<Int>?
    let title: Range<Int>
    var artist: Range<Int>?
    var pin: Int?
    /// The first column of the map.
    var map: Int?
    /// Right-aligned.
    var duration: Range<Int>?

    init(columns: Int, count: Int, rows: [QueueRow]) {
        check = rows.contains { $0.isMarked && $0.isChecked } ? 2 : nil
        let signs = check == nil ? 2 : 3
        number = signs..<signs + String(max(1, count)).count
        var end = columns
        var start = number.upperBound + 1
        let day = rows.map(\.date.columns).max() ?? 0
        if day > 0, columns >= Self.leastForDate {
            date = start..<start + day
            start += day + 2
        }
        let widest = rows.map(\.duration.columns).max() ?? 0
        if widest > 0, end - widest - 2 - start >= Self.leastForTitle {
            duration = end - widest..<end
            end -= widest + 2
        }
        let isAnyCached = rows.contains { $0.isPinned || $0.map.contains { $0 != .missing } }
        if isAnyCached, columns >= Self.leastForMap {
            map = end - RangeBar.columns
            pin = end - RangeBar.columns - 2
            end -= RangeBar.columns + 4
        }
        if columns >= Self.leastForArtist, rows.contains(where: { !$0.artist.isEmpty }) {
            let room = end - start
            let titleEnd = start + room * 3 / 5
            title = start..<titleEnd
            artist = titleEnd + 2..<end
        } else {
            title = start..<max(start, end)
        }
    }
}
