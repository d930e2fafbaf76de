internal import Media

/// Draws the queue; creates only the rows in view.
enum QueueTable {
    private enum Line {
        case heading(QueueHeading)
        case track(QueueRow)
    }

    static func draw(_ state: QueueView, _ context: ViewContext, into buffer: inout CellBuffer) {
        let player = context.player
        let rows = state.rows(in: context.layout)
        guard state.list.count > 0 else {
            let room = context.layout.listRows
            guard let text = emptyText(state, player, buffer.glyphs) else {
                return WelcomeView.draw(context.keyMap, rows: room, into: &buffer)
            }
            return buffer.drawPlaceholder(text, rows: room)
        }
        var lines = state.list.visible.map {
            line(state, row: $0, player, columns: buffer.columns, buffer.glyphs)
        }
        // Above a box, no heading stands without a track.
        if context.layout.isCovered, state.list.isCut,
            state.list.selected < state.list.visible.upperBound - 1,
            case .heading(let heading)? = lines.last, heading.sign == nil
        {
            lines.removeLast()
        }
        let tracks = lines.compactMap { if case .track(let row) = $0 { row } else { nil } }
        let hasBar = state.list.isCut && buffer.columns >= ScrollBar.leastColumns
        let columns = QueueColumns(
            window: buffer.columns,
            room: buffer.columns - (hasBar ? 2 : 1),
            count: player.tracks.count,
            rows: tracks
        )
        if let row = context.layout.titleRow, QueueColumns.hasTitles(context.layout) {
            draw(titlesOf: columns, row: row, into: &buffer)
        }
        for (index, (line, row)) in zip(state.list.visible, zip(lines, rows)) {
            switch line {
            case .heading(let heading):
                let ground: Ground = heading.isMarked ? .marked : .plain
                buffer.lay(index == state.list.selected ? .selected : ground, row: row)
                heading.draw(row: row, upTo: columns.end, into: &buffer)
            case .track(let item):
                let ground: Ground =
                    index == state.list.selected ? .selected : item.isMarked ? .marked : .plain
                buffer.lay(ground, row: row)
                let columns = columns.fitting(item)
                draw(item, columns, row: row, into: &buffer)
                guard let matcher = state.filter?.matcher ?? context.searched, item.failure.isEmpty else {
                    continue
                }
                for (text, place) in texts(of: item, columns, buffer.glyphs) {
                    matcher.highlight(in: text, at: place, row: row, into: &buffer)
                }
            }
        }
        // The background of a marked row is that of the selected one.
        if !state.marks.isEmpty, let row = rows.dropFirst(state.list.selected - state.list.top).first {
            buffer.draw(buffer.glyphs.edge, column: 0, row: row, style: .head)
        }
        if hasBar { ScrollBar.draw(state.list, rows: rows, into: &buffer) }
    }

    private static func line(
        _ state: QueueView,
        row: Int,
        _ player: PlayerSnapshot,
        columns: Int,
        _ glyphs: Glyphs
    ) -> Line {
        let item = state.item(ofRow: row)
        if let heading = state.heading(item, in: player, glyphs) { return .heading(heading) }
        let isMarked = !state.marks.isEmpty && state.marks.contains(player.tracks[item.place].id)
        let cells = QueueColumns.mapCells(window: columns)
        var track = QueueRow(player, index: item.place, isMarked: isMarked, mapCells: cells, glyphs: glyphs)
        track.isInGroup = state.filter == nil && state.outline.run(at: item.place) != nil
        return .track(track)
    }

    private static func draw(titlesOf columns: QueueColumns, row: Int, into buffer: inout CellBuffer) {
        let titles: [(SafeText, Range<Int>?, Bool)] = [
            ("#", columns.number, true), ("TITLE", columns.title, false),
            ("ARTIST", columns.artist, false), ("ALBUM", columns.album, false),
            ("DATE", columns.date, false), ("YEAR", columns.year, false), ("FORMAT", columns.format, false),
            ("CACHED", columns.map, false),
            ("TIME", columns.duration, true),
        ]
        for case (let title, let place?, let isRight) in titles {
            buffer.draw(title, in: place, row: row, style: .faint, isRightAligned: isRight)
        }
    }

    /// The texts that a filter or a search looks through, with their columns.
    private static func texts(of item: QueueRow, _ columns: QueueColumns, _ glyphs: Glyphs) -> [(
        SafeText, Range<Int>
    )] {
        guard let artist = columns.artist else { return [(item.name(glyphs), columns.title)] }
        return [(item.title, columns.title), (item.artist, artist)]
            + (columns.album.map {
                [(item.album.isEmpty && columns.date == nil ? item.date : item.album, $0)]
            } ?? [])
    }

    private static func draw(
        _ item: QueueRow,
        _ columns: QueueColumns,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        let style = item.style
        for (offset, sign) in item.signs.enumerated() {
            buffer.draw(sign.text, column: 1 + offset * columns.signWidth, row: row, style: sign.style)
        }
        func draw(
            _ text: SafeText,
            in columns: Range<Int>?,
            style: Style = .dim,
            isRightAligned: Bool = false
        ) {
            guard let columns else { return }
            buffer.draw(text, in: columns, row: row, style: style, isRightAligned: isRightAligned)
        }
        draw(SafeText("\(item.number)"), in: columns.number, style: .faint, isRightAligned: true)
        draw(item.date, in: columns.date, isRightAligned: true)
        if item.failure.isEmpty {
            for (text, place) in texts(of: item, columns, buffer.glyphs) {
                let rest: Style = place == columns.album ? .faint : .dim
                buffer.draw(text, in: place, row: row, style: place == columns.title ? style : rest)
            }
            draw(item.year, in: columns.year)
            draw(item.format, in: columns.format)
        } else {
            // The name gives way to the reason for the failure, but some of it always stays.
            let start = columns.title.lowerBound
            let end = columns.textEnd
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
            buffer.draw(buffer.glyphs.pin, column: pin, row: row, style: .marked)
        }
        if let map = columns.map { RangeBar.draw(item.map, column: map.lowerBound, row: row, into: &buffer) }
        let time = columns.duration ?? 0..<0
        let isPlaying = item.style == .playing
        buffer.draw(
            item.duration,
            in: time,
            row: row,
            style: isPlaying ? .playing : .dim,
            isRightAligned: true
        )
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

/// The place of the rows in view among all rows, in the last column of the window.
enum ScrollBar {
    /// A narrower window needs its columns for the titles.
    static let leastColumns = 40

    static func draw(_ list: ListPosition, rows: Range<Int>, into buffer: inout CellBuffer) {
        guard list.isCut, !rows.isEmpty else { return }
        let length = max(1, rows.count * rows.count / list.count)
        let most = max(1, list.count - list.height)
        let start = rows.lowerBound + list.top * (rows.count - length) / most
        for row in rows {
            let isThumb = (start..<start + length).contains(row)
            let glyph = isThumb ? buffer.glyphs.scrollThumb : buffer.glyphs.scrollTrack
            buffer.draw(glyph, column: buffer.columns - 1, row: row, style: isThumb ? .normal : .missing)
        }
    }
}

/// The columns of a row, for the room in a window and the rows in view. Pure.
///
/// The narrower the window, the more columns are dropped: first the year and the format, then the album, the
/// artist's own, an episode's date and the map of the cached bytes, then the duration. The title always
/// stays.
struct QueueColumns: Equatable {
    /// The fewest columns of a window for each column. Titles of columns need a wide window too.
    private static let leastForYear = 150
    private static let leastForAlbum = 110
    private static let leastForArtist = 80
    private static let leastForTitles = 80
    private static let leastForMap = 40
    private static let leastForWholeMap = 60
    private static let leastForDate = 60
    private static let leastForIndent = 40
    fileprivate static let leastForTitle = 12

    /// The columns for a row: a track in no group is not indented, so that the group above it ends.
    func fitting(_ row: QueueRow) -> QueueColumns {
        guard isIndented, !row.isInGroup else { return self }
        var columns = self
        columns.title = title.lowerBound - 2..<title.upperBound
        return columns
    }

    /// The cells of the map in a window of so many columns.
    static func mapCells(window columns: Int) -> Int {
        columns < leastForWholeMap ? RangeBar.columns / 2 : RangeBar.columns
    }

    static func hasTitles(_ layout: ScreenLayout) -> Bool { layout.columns >= leastForTitles }

    /// The columns of each sign before the number, with the blank behind it.
    let signWidth: Int
    let number: Range<Int>
    /// The days of episodes.
    private(set) var date: Range<Int>?
    private(set) var title: Range<Int>
    /// `true` if the titles below headings are indented.
    private let isIndented: Bool
    private(set) var artist: Range<Int>?
    private(set) var album: Range<Int>?
    private(set) var year: Range<Int>?
    private(set) var format: Range<Int>?
    private(set) var pin: Int?
    private(set) var map: Range<Int>?
    /// Right-aligned.
    private(set) var duration: Range<Int>?
    /// The column after the last one of all.
    let end: Int
    /// The column after the title, the artist and the album.
    let textEnd: Int

    /// `columns` is the width of the window, and `room` what the columns have of it.
    init(window columns: Int, room: Int, count: Int, rows: [QueueRow]) {
        signWidth = columns >= Self.leastForIndent ? 2 : 1
        let signs = 1 + max(2, signWidth * (rows.map(\.signs.count).max() ?? 0))
        number = signs..<signs + String(max(1, count)).count
        self.end = room
        var end = room
        // Below headings all titles are indented, if there is room.
        isIndented = columns >= Self.leastForIndent && rows.contains(where: \.isInGroup)
        let start = number.upperBound + (isIndented ? 3 : 1)
        let widest = rows.map(\.duration.columns).max() ?? 0
        if widest > 0, end - widest - 2 - start >= Self.leastForTitle {
            let width = max(4, widest)
            duration = end - width..<end
            end -= width + 2
        }
        // Local files have no map.
        if columns >= Self.leastForMap, rows.contains(where: { !$0.map.isEmpty }) {
            let cells = Self.mapCells(window: columns)
            map = end - cells..<end
            pin = end - cells - 2
            end -= cells + (cells < RangeBar.columns ? 3 : 4)
        }
        if columns >= Self.leastForYear {
            format = end - 6..<end
            year = end - 12..<end - 8
            end -= 14
        }
        let day = rows.map(\.date.columns).max() ?? 0
        // Beside music, the day stands in the column of the album.
        let isMixed = columns >= Self.leastForAlbum && rows.contains { !$0.album.isEmpty }
        if day > 0, columns >= Self.leastForDate, !isMixed || columns >= Self.leastForYear {
            date = end - day..<end
            end -= day + 2
        }
        textEnd = end
        let room = end - start
        guard columns >= Self.leastForArtist, rows.contains(where: { !$0.artist.isEmpty }) else {
            title = start..<max(start, end)
            return
        }
        guard columns >= Self.leastForAlbum, rows.contains(where: { !$0.album.isEmpty }) else {
            title = start..<start + room * 3 / 5
            artist = title.upperBound + 2..<end
            return
        }
        title = start..<start + room * 9 / 20
        artist = title.upperBound + 2..<title.upperBound + room * 7 / 25
        album = title.upperBound + room * 7 / 25 + 2..<end
    }
}
