internal import Media

/// What is kept: how large, how much of it, which parts, when it was played last, and whether it stays.
struct CacheView {
    static let barColumns = 10

    var glyphs: Glyphs

    func draw(_ state: CacheViewState, layout: ScreenLayout, into buffer: inout CellBuffer) {
        guard state.isThere, !state.entries.isEmpty else {
            guard let row = layout.listRows.first else { return }
            let style = state.report.problem == nil ? Style.dim : .error
            buffer.draw(emptyText(state), column: 1, row: row, style: style, ellipsis: glyphs.ellipsis)
            return
        }
        let table = RowTable(Self.columns, width: layout.columns, glyphs: glyphs)
        if layout.tableRows != layout.listRows {
            table.drawTitles(row: layout.listRows.lowerBound, into: &buffer)
        }
        for (index, row) in zip(state.list.visible, layout.tableRows) {
            let isSelected = index == state.list.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            let last = Self.columns.count - 1
            table.draw(
                cells(state.entries[index]),
                row: row,
                styles: { isSelected ? .selected : $0 == last ? .normal : .dim },
                into: &buffer
            )
        }
    }

    private static let columns = [
        RowTable.Column(title: "SIZE", width: 7, isRightAligned: true, dropRank: 1),
        RowTable.Column(title: "HERE", width: 5, isRightAligned: true),
        RowTable.Column(title: "RANGES", width: barColumns, dropRank: 4),
        RowTable.Column(title: "PLAYED", width: 6, isRightAligned: true, dropRank: 3),
        RowTable.Column(title: "PIN", width: 3, dropRank: 2),
        RowTable.Column(title: "MUSIC", width: 0),
    ]

    private func cells(_ entry: KeptEntry) -> [SafeText] {
        [
            entry.length.map { SafeText(ByteText.text($0)) } ?? "?",
            SafeText(entry.share.map { "\($0) %" } ?? "?"),
            RangeBar.text(
                entry.stored,
                length: entry.length,
                columns: Self.barColumns,
                isUnicode: glyphs.isUnicode
            ),
            AgeText.text(seconds: entry.age.components.seconds),
            entry.isPinned ? glyphs.pin : "",
            entry.name(dash: glyphs.dash),
        ]
    }

    private func emptyText(_ state: CacheViewState) -> SafeText {
        if let problem = state.report.problem { return problem }
        if !state.isThere { return "Nothing is kept: there is no cache in this session" }
        return state.report.entries == nil ? "Looking" + glyphs.more : "Nothing is kept yet"
    }
}

extension KeptEntry {
    /// Whole percents that are kept, rounded down, so that 100 means all; nil while the length is unknown.
    var share: Int? {
        guard let length, length > 0 else { return length == 0 ? 100 : nil }
        return isComplete ? 100 : min(99, Int(Double(stored.byteCount) / Double(length) * 100))
    }

    /// What to call it: title and artist as far as they are known, else its source.
    func name(dash: SafeText) -> SafeText {
        guard let title else { return source }
        return artist.map { title + " " + dash + " " + $0 } ?? title
    }
}
