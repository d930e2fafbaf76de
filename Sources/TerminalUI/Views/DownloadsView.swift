internal import Media

extension ViewName {
    package static let downloads = ViewName(word: "downloads", help: "downloads", hasTab: false)
}

/// The downloads that are not finished, in their order. Pure.
///
/// The keys of the queue act on the selected one: `download-selected` pauses it or goes on, `play-selected`
/// tries it again, and `remove-selected` cancels it.
package struct DownloadsView: ListView {
    static let name = ViewName.downloads
    static let prompts = [Prompt.Kind.search]

    package internal(set) var list = ListPosition()

    func rows(in layout: ScreenLayout) -> Range<Int> { layout.tableRows }

    /// The selection stays on its download, or on its row if that has ended.
    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        let selected = selected(in: before)?.track.location
        let downloads = context.player.downloads
        resize(count: downloads.count, in: context)
        if let row = downloads.firstIndex(where: { $0.track.location == selected }) { list.select(row) }
    }

    private func selected(in player: PlayerSnapshot) -> DownloadReport? {
        player.downloads.indices.contains(list.selected) ? player.downloads[list.selected] : nil
    }

    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool {
        let download = player.downloads[item]
        return matcher.matches(
            Self.name(of: download, in: player, glyphs: .unicode).string + " "
                + download.track.location.safeText.string
        )
    }

    func facts(in context: ViewContext) -> [Fact] {
        guard let download = selected(in: context.player) else { return [] }
        let place = context.player.tracks.firstIndex { $0.location == download.track.location }
        return place.map { Fact.all(ofTrack: $0, in: context.player) }
            ?? [Fact(name: "Address", text: download.track.location.safeText)]
    }

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        guard [.downloadSelected, .playSelected, .removeSelected].contains(command) else { return nil }
        guard let download = selected(in: context.player) else { return .noSelection }
        let change: DownloadChange =
            switch (command, download.phase) {
            case (.removeSelected, _): .cancel
            case (.playSelected, _), (_, .failed): .retry
            case (_, .paused): .resume
            default: .pause
            }
        return CommandOutcome([.send(.changeDownloads(change, .at(download.track.location)))])
    }

    // MARK: Drawing

    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        let count = context.player.downloads.count
        return [SafeText(CountText.of(count, "download"))]
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [
            (.downloadSelected, "pause/resume"), (.playSelected, "try again"), (.removeSelected, "cancel"),
        ]
    }

    private static let columns = [
        RowTable.Column(title: "", width: 1),
        RowTable.Column(title: "TITLE", width: 0),
        RowTable.Column(title: "SIZE", width: 7, isRightAligned: true, isDim: true, dropRank: 3),
        RowTable.Column(title: "CACHED", width: 6, isRightAligned: true, isDim: true, dropRank: 2),
        RowTable.Column(title: "MAP", width: RangeBar.columns, isMap: true, dropRank: 5),
        RowTable.Column(title: "RATE", width: 8, isRightAligned: true, isDim: true, dropRank: 1),
        RowTable.Column(title: "LEFT", width: 7, isRightAligned: true, isDim: true, dropRank: 4),
    ]

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let player = context.player
        let layout = context.layout
        guard !player.downloads.isEmpty else {
            let key = context.keyMap.name(of: .downloadSelected)
            let way = key.map { " " + buffer.glyphs.dash + " " + $0 + " in the queue downloads tracks" } ?? ""
            return buffer.drawPlaceholder("No downloads" + way, rows: layout.listRows)
        }
        let glyphs = buffer.glyphs
        let table = RowTable(Self.columns, note: "ARTIST", width: buffer.columns)
        table.draw(list, layout: layout, into: &buffer) { row in
            let download = player.downloads[row]
            let names = Self.nameParts(of: download, in: player)
            let known = Availability(stored: download.stored, length: download.length)
            let rate = download.isMoving ? download.rate : nil
            var item = RowTable.Row(cells: [], note: names.artist ?? "", matcher: context.searched)
            let sign: SafeText
            let state: SafeText
            switch download.phase {
            case .running where download.isMoving:
                sign = glyphs.receiving
                state = "running"
                item.signStyle = .inFlight
            case .running, .waiting:
                sign = glyphs.waiting
                state = "waiting"
                if download.phase == .waiting { item.style = .dim }
            case .paused:
                sign = glyphs.paused
                state = "paused"
                item.style = .dim
            case .failed(let error):
                sign = glyphs.failed
                state = "failed"
                item.style = .error
                item.failure = error.reason
            }
            item.cells = [
                sign, names.title, download.length.map { SafeText(SizeText.text($0)) } ?? "",
                known.fraction.map { SafeText("\(Int($0 * 100)) %") } ?? "", "",
                rate.map { SafeText(SizeText.rate($0)) } ?? state,
                rate == nil ? "" : download.timeLeft.map { SafeText($0.clockTime) } ?? "",
            ]
            item.map = RangeBar.parts(
                download.stored,
                inFlight: download.inFlight,
                length: download.length
            )
            return item
        }
    }

    private static func name(
        of download: DownloadReport,
        in player: PlayerSnapshot,
        glyphs: Glyphs
    ) -> SafeText {
        let names = nameParts(of: download, in: player)
        return TrackName.text(names.title, names.artist, dash: glyphs.dash)
    }

    private static func nameParts(of download: DownloadReport, in player: PlayerSnapshot) -> (
        title: SafeText, artist: SafeText?, album: SafeText?
    ) { QueueRow.nameParts(of: download.track, tags: player.learned[download.track.id]?.tags) }
}

/// One line about all downloads, in the blank row below the list.
enum DownloadLine {
    static func draw(_ player: PlayerSnapshot, layout: ScreenLayout, into buffer: inout CellBuffer) {
        guard let row = layout.nowPlayingRow.map({ $0 - 1 }), !layout.listRows.isEmpty,
            row >= layout.listRows.upperBound, !layout.soundRows.contains(row),
            let text = text(player, buffer.glyphs)
        else { return }
        // A view may have a word of its own there.
        buffer.clear(row: row)
        buffer.draw(text, in: layout.inner, row: row, style: .dim, isRightAligned: true)
    }

    /// `↓ 2 downloading · 10 waiting · 1 failed · 4.1 MB/s · 1:20 left`; `nil` if none runs. The time is that
    /// of the downloads that receive bytes.
    static func text(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText? {
        guard player.downloads.contains(where: { $0.phase == .running }) else { return nil }
        let moving = player.downloads.filter(\.isMoving)
        let awaited = player.downloads.count { $0.isAwaited }
        let failed = player.downloads.count { if case .failed = $0.phase { true } else { false } }
        let counts = [
            (moving.count, "downloading"),
            (awaited - moving.count, moving.isEmpty ? "waiting for the connection" : "waiting"),
            (failed, "failed"),
        ]
        var parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        parts[0] = "\(glyphs.download) " + parts[0]
        let rate = moving.reduce(0) { $0 + ($1.rate ?? 0) }
        if rate > 0 { parts.append(SizeText.rate(rate)) }
        if let left = moving.compactMap(\.timeLeft).max() { parts.append(left.clockTime + " left") }
        return SafeText(parts.joined(separator: " \(glyphs.dot) "))
    }
}
