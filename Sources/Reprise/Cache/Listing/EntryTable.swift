import Media
import TerminalUI

/// Entries as people read them: pure.
struct EntryTable: Sendable {
    var style: TextStyle
    /// Seconds since 1970.
    var now: Int64
    /// Seconds since 1970 as text.
    var time: @Sendable (Int64) -> String

    /// Cells of the bar of an entry's ranges.
    static let barColumns = 10
    /// From this width on title and source have a column each.
    static let wideColumns = 120
    /// What a title may take beside its source.
    static let titleColumns = 40

    /// A line of titles, one for each entry, and a last line with the sum.
    func lines(_ entries: [CacheListing]) -> [String] {
        guard !entries.isEmpty else { return ["nothing is kept"] }
        let isWide = style.columns.map { $0 >= Self.wideColumns } ?? true
        var columns = [
            TextTable.Column(title: "SIZE", isRightAligned: true, dropRank: 2),
            TextTable.Column(title: "STORED", isRightAligned: true),
            TextTable.Column(title: "RANGES", dropRank: 4),
            TextTable.Column(title: "LAST PLAYED", dropRank: 3),
            TextTable.Column(title: "AGE", isRightAligned: true, dropRank: 5),
            TextTable.Column(title: "PIN", dropRank: 1),
        ]
        if isWide {
            columns += [
                TextTable.Column(title: "TITLE", most: Self.titleColumns), TextTable.Column(title: "SOURCE"),
            ]
        } else {
            columns.append(TextTable.Column(title: "MUSIC"))
        }
        let table = TextTable(columns: columns, rows: entries.map { cells($0, isWide: isWide) })
        return table.lines(width: style.columns, ellipsis: style.glyphs.ellipsis) + [sum(entries)]
    }

    private func cells(_ entry: CacheListing, isWide: Bool) -> [SafeText] {
        let cells: [SafeText] = [
            entry.length.map { SafeText(ByteSize.text($0)) } ?? "?",
            SafeText(entry.share.map { "\($0) %" } ?? ByteSize.text(entry.storedBytes)),
            RangeBar.text(
                entry.stored,
                length: entry.length,
                columns: Self.barColumns,
                isUnicode: style.glyphs.isUnicode
            ),
            SafeText(time(entry.lastPlayed)),
            entry.created.map { AgeText.text(seconds: now &- $0) } ?? "?",
            entry.isPinned ? "*" : "",
        ]
        let music = style.shown(entry.music(dash: style.glyphs.dash))
        guard isWide else { return cells + [music] }
        return cells + [entry.title == nil ? "" : music, style.shown(entry.source)]
    }

    private func sum(_ entries: [CacheListing]) -> String {
        let stored = entries.reduce(Int64(0)) { $0 &+ $1.storedBytes }
        let pinned = entries.count(where: \.isPinned)
        let text = "\(CountText.of(entries.count, "entry", "entries")), \(ByteSize.text(stored)) stored"
        return pinned > 0 ? text + ", \(pinned) pinned" : text
    }
}
