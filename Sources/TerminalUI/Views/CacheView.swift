package import Media

/// The list of cached tracks and the commands on its selected entry. Pure.
package struct CacheViewState: Sendable {
    package internal(set) var list = ListPosition()
    /// `true` if this session has a cache.
    package private(set) var isAvailable = true
    package private(set) var report = CacheContents()
    /// The entries that match the filter, the last played first.
    package private(set) var entries: [CachedItem] = []
    /// Only entries that match it are shown; empty for all.
    private(set) var filter = ""
    /// The entry that a repeated `delete` deletes.
    private var candidate: CachedItem.ID?

    package var selected: CachedItem? {
        entries.indices.contains(list.selected) ? entries[list.selected] : nil
    }

    /// Shows a new report, `nil` if there is no cache, and returns its problem, if any.
    ///
    /// The selection stays on its entry, or on its row if the entry was removed.
    mutating func show(_ report: CacheContents?) -> CommandAnswer? {
        isAvailable = report != nil
        guard let report else { return nil }
        self.report = report
        fit()
        return report.problem.map { .error($0) }
    }

    mutating func setFilter(_ text: String) {
        filter = text.contains { !$0.isWhitespace } ? text : ""
        fit()
    }

    private mutating func fit() {
        let id = selected?.id
        let all = report.entries ?? []
        let matcher = TrackMatcher(filter)
        entries = filter.isEmpty ? all : all.filter { matcher.matches(Self.text(of: $0)) }
        list.resize(count: entries.count, height: list.height)
        if let row = entries.firstIndex(where: { $0.id == id }) { list.select(row) }
    }

    /// The text in which a search looks.
    func text(ofRow row: Int) -> String { Self.text(of: entries[row]) }

    private static func text(of entry: CachedItem) -> String {
        entry.name().string + " " + entry.url.string
    }

    /// Adds the selected entry to the queue.
    func add() -> CommandOutcome {
        guard let entry = selected else { return .noSelection }
        // The cache reports an address without its query, which may hold secrets, and marks the gap with `…`.
        guard !entry.url.string.hasSuffix("…") else {
            return .error("Can't add it: its full address is not known – use :add")
        }
        return .notice("Added " + entry.name(), [.send(.add(entry.url.string))])
    }

    /// Deletes the selected entry from the cache if called twice in a row. `key` is the name of the key to
    /// press again.
    mutating func delete(key: SafeText?) -> CommandOutcome {
        guard let entry = selected else { return .noSelection }
        guard !entry.isPinned else {
            candidate = nil
            return .error("Can't delete a pinned track – unpin it first")
        }
        guard candidate == entry.id else {
            candidate = entry.id
            let size = SafeText(SizeText.text(entry.stored.byteCount))
            let again = key.map { "Press " + $0 + " again to delete " } ?? "Repeat it to delete "
            return .notice(again + size + " of " + entry.name())
        }
        candidate = nil
        return .notice("Deleted " + entry.name(), [.evict(entry.id)])
    }

    /// Cancels the deletion, because another command was entered in between.
    mutating func cancelDelete() { candidate = nil }

    func togglePin() -> CommandOutcome {
        guard let entry = selected else { return .noSelection }
        let name = SafeText("\"") + entry.name() + "\""
        let text = entry.isPinned ? "Unpinned " + name : "Pinned " + name + " (never evicted)"
        return .notice(text, [.setPinned(entry.id, !entry.isPinned)])
    }
}

/// Draws the list of cached tracks.
enum CacheView {
    private static let columns = [
        RowTable.Column(title: "SIZE", width: 7, isRightAligned: true, isDim: true, dropRank: 1),
        RowTable.Column(title: "CACHED", width: 6, isRightAligned: true, isDim: true),
        RowTable.Column(title: "MAP", width: RangeBar.columns, isMap: true, dropRank: 4),
        RowTable.Column(title: "LAST PLAYED", width: 11, isRightAligned: true, isDim: true, dropRank: 3),
        RowTable.Column(title: "PIN", width: 3, isDim: true, dropRank: 2),
        RowTable.Column(title: "TITLE", width: 0),
    ]

    static func draw(_ state: CacheViewState, layout: ScreenLayout, into buffer: inout CellBuffer) {
        let glyphs = buffer.glyphs
        guard state.isAvailable, !state.entries.isEmpty else {
            let style = state.report.problem == nil ? Style.dim : .error
            return buffer.drawPlaceholder(emptyText(state, glyphs), rows: layout.listRows, style: style)
        }
        let matcher = state.filter.isEmpty ? nil : TrackMatcher(state.filter)
        RowTable(columns, width: buffer.columns).draw(state.list, layout: layout, into: &buffer) { row in
            let entry = state.entries[row]
            let cells: [SafeText] = [
                entry.length.map { SafeText(SizeText.text($0)) } ?? "?",
                SafeText(entry.percent.map { "\($0) %" } ?? "?"), "",
                AgeText.text(seconds: max(0, state.report.time &- entry.lastPlayed)),
                entry.isPinned ? glyphs.pin : "",
                entry.name(dash: glyphs.dash),
            ]
            let map = RangeBar.parts(entry.stored, length: entry.length)
            return RowTable.Row(cells: cells, map: map, matcher: matcher)
        }
    }

    private static func emptyText(_ state: CacheViewState, _ glyphs: Glyphs) -> SafeText {
        if let problem = state.report.problem { return problem }
        if !state.isAvailable { return "No cache in this session" }
        if !state.filter.isEmpty, state.report.entries?.isEmpty == false {
            return SafeText("No match for \"\(state.filter)\"")
        }
        return state.report.entries == nil ? "Reading the cache" + glyphs.more : "No cached tracks yet"
    }
}
