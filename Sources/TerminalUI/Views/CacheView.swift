package import Media

extension ViewName {
    package static let cache = ViewName(word: "cache", help: "cached tracks")
}

/// The list of cached tracks and the commands on its selected entry. Pure.
package struct CacheView: ListView {
    static let name = ViewName.cache
    static let prompts = [Prompt.Kind.search, .filter]

    package internal(set) var list = ListPosition()
    /// `true` if this session has a cache.
    package private(set) var isAvailable = true
    package private(set) var report = CacheContents()
    /// The entries that match the filter, the last played first.
    package private(set) var entries: [CachedItem] = []
    /// Only entries that match it are shown; empty for all.
    private(set) var filterText = ""
    /// The entry that a repeated `delete` deletes.
    private var candidate: CachedItem.ID?

    package var selected: CachedItem? {
        entries.indices.contains(list.selected) ? entries[list.selected] : nil
    }

    func rows(in layout: ScreenLayout) -> Range<Int> { layout.tableRows }

    func watch(_ isOpen: Bool) -> [UIAction] { [.watchCache(isOpen)] }

    func news(in surroundings: ScreenSurroundings, isOpen: Bool) -> UIEvent? {
        guard let newest = surroundings.cache?.report else { return isAvailable ? .cache(nil) : nil }
        return newest.revision == report.revision ? nil : .cache(newest)
    }

    /// The selection stays on its entry, or on its row if the entry was removed.
    mutating func receive(_ event: UIEvent) -> CommandAnswer? {
        guard case .cache(let report) = event else { return nil }
        isAvailable = report != nil
        guard let report else { return nil }
        self.report = report
        fit()
        return report.problem.map { .error($0) }
    }

    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        filterText = text.contains { !$0.isWhitespace } ? text : ""
        fit()
    }

    private mutating func fit() {
        let id = selected?.id
        let all = report.entries ?? []
        let matcher = TrackMatcher(filterText)
        entries = filterText.isEmpty ? all : all.filter { matcher.matches(Self.text(of: $0)) }
        list.resize(count: entries.count, height: list.height)
        if let row = entries.firstIndex(where: { $0.id == id }) { list.select(row) }
    }

    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool {
        matcher.matches(Self.text(of: entries[item]))
    }

    private static func text(of entry: CachedItem) -> String {
        entry.name().string + " " + entry.url.string
    }

    func facts(in context: ViewContext) -> [Fact] { selected.map { Fact.all(of: $0) } ?? [] }

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        let candidate = candidate
        self.candidate = nil
        switch command {
        case .playSelected: return selected.map { add($0) } ?? .noSelection
        case .removeSelected:
            let key = context.keyMap.name(of: command)
            return selected.map { delete($0, isConfirmed: $0.id == candidate, key: key) } ?? .noSelection
        case .pinSelected: return selected.map { togglePin($0) } ?? .noSelection
        default: return nil
        }
    }

    private func add(_ entry: CachedItem) -> CommandOutcome {
        // The cache reports an address without its query, which may hold secrets, and marks the gap with `…`.
        guard !entry.url.string.hasSuffix("…") else {
            return .error("Can't add it: its full address is not known – use :add")
        }
        return .notice("Added " + entry.name(), [.send(.add(entry.url.string))])
    }

    /// Deletes an entry from the cache if the key is pressed twice in a row.
    private mutating func delete(_ entry: CachedItem, isConfirmed: Bool, key: SafeText?) -> CommandOutcome {
        guard !entry.isPinned else { return .error("Can't delete a pinned track – unpin it first") }
        guard !isConfirmed else { return .notice("Deleted " + entry.name(), [.evict(entry.id)]) }
        candidate = entry.id
        let size = SafeText(SizeText.text(entry.stored.byteCount))
        let again = key.map { "Press " + $0 + " again to delete " } ?? "Repeat it to delete "
        let question = again + size + " of " + entry.name()
        return CommandOutcome(answer: CommandAnswer(text: question, isQuestion: true))
    }

    private func togglePin(_ entry: CachedItem) -> CommandOutcome {
        let name = SafeText("\"") + entry.name() + "\""
        let text = entry.isPinned ? "Unpinned " + name : "Pinned " + name + " (never evicted)"
        return .notice(text, [.setPinned(entry.id, !entry.isPinned)])
    }

    // MARK: Drawing

    /// `61 tracks, 2 lists · 1.9 of 10 GB`, or `12 of 61 tracks · …`; with a filter, the tracks and bytes of
    /// the matches.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        let stored = entries.reduce(0) { $0 &+ $1.stored.byteCount }
        let all = report.entries?.count ?? 0
        guard filterText.isEmpty else {
            let matches = "\(entries.count) of \(all)"
            return [SafeText("\(matches) tracks \(glyphs.dot) \(SizeText.text(stored))"), SafeText(matches)]
        }
        let size = report.budget.map { SizeText.text(stored, of: $0) } ?? SizeText.text(stored)
        let tracks = CountText.of(all - report.listCount, "track")
        let both = CountText.tracks(all - report.listCount, lists: report.listCount)
        // With lists among the rows, the selected row has no place among the tracks.
        let place = report.listCount == 0 ? list.placeText : ""
        return ["\(place)\(both)", "\(both)", "\(tracks)"].map { SafeText($0 + " \(glyphs.dot) " + size) }
            + [SafeText(size)]
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [(.playSelected, "add to queue"), (.removeSelected, "delete"), (.pinSelected, "pin")]
    }

    private static let columns = [
        RowTable.Column(title: "", width: 1, dropRank: 2),
        RowTable.Column(title: "TITLE", width: 0),
        RowTable.Column(title: "SIZE", width: 7, isRightAligned: true, isDim: true, dropRank: 1),
        RowTable.Column(title: "CACHED", width: 6, isRightAligned: true, isDim: true),
        RowTable.Column(title: "MAP", width: RangeBar.columns, isMap: true, dropRank: 4),
        RowTable.Column(title: "LAST PLAYED", width: 11, isRightAligned: true, isDim: true, dropRank: 3),
    ]

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let glyphs = buffer.glyphs
        let layout = context.layout
        guard isAvailable, !entries.isEmpty else {
            let style = report.problem == nil ? Style.dim : .error
            return buffer.drawPlaceholder(emptyText(glyphs), rows: layout.listRows, style: style)
        }
        let matcher = filterText.isEmpty ? context.searched : TrackMatcher(filterText)
        let table = RowTable(Self.columns, note: "ARTIST", width: buffer.columns)
        table.draw(list, layout: layout, into: &buffer) { row in
            let entry = entries[row]
            let cells: [SafeText] = [
                entry.isPinned ? glyphs.pin : "", entry.tags.title ?? TrackName.file(at: entry.url),
                entry.length.map { SafeText(SizeText.text($0)) } ?? "?",
                SafeText(entry.percent.map { "\($0) %" } ?? "?"), "",
                entry.lastPlayed == 0
                    ? "never" : AgeText.text(seconds: max(0, report.time &- entry.lastPlayed)),
            ]
            return RowTable.Row(
                cells: cells,
                signStyle: .marked,
                note: entry.tags.title == nil ? "" : entry.tags.artist ?? "",
                map: RangeBar.parts(entry.stored, length: entry.length),
                style: entry.tags.title == nil ? .faint : .normal,
                matcher: matcher
            )
        }
        if let row = layout.footRow, let text = report.savings.text {
            buffer.draw(text, column: 1, row: row, style: .dim)
        }
    }

    private func emptyText(_ glyphs: Glyphs) -> SafeText {
        if let problem = report.problem { return problem }
        if !isAvailable { return "No cache in this session" }
        if !filterText.isEmpty, report.entries?.isEmpty == false {
            return SafeText("No match for \"\(filterText)\"")
        }
        return report.entries == nil ? "Reading the cache" + glyphs.more : "No cached tracks yet"
    }
}
