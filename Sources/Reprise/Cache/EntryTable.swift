import Cache
import Media
import Playlists
import TerminalUI

/// The tables of `reprise cache list` and `info`. Pure.
struct EntryTable: Sendable {
    var style: TextStyle
    /// The current time in seconds since 1970.
    var now: Int64
    /// Formats seconds since 1970.
    var time: @Sendable (Int64) -> String

    /// The width from which on title and source have a column each.
    static let wideColumns = 120
    /// The most columns of a title beside its source.
    static let titleColumns = 40

    /// A line of column titles, one for each entry, and a last line with the sum.
    func lines(_ entries: [CachedItem]) -> [String] {
        guard !entries.isEmpty else { return ["The cache is empty"] }
        let isWide = style.columns.map { $0 >= Self.wideColumns } ?? true
        var columns = [
            TextTable.Column(title: "SIZE", isRightAligned: true, dropRank: 2),
            TextTable.Column(title: "CACHED", isRightAligned: true),
            TextTable.Column(title: "MAP", dropRank: 4),
            TextTable.Column(title: "LAST PLAYED", dropRank: 3),
            TextTable.Column(title: "AGE", isRightAligned: true, dropRank: 5),
            TextTable.Column(title: "PIN", dropRank: 1),
        ]
        if isWide {
            columns += [
                TextTable.Column(title: "TITLE", most: Self.titleColumns), TextTable.Column(title: "SOURCE"),
            ]
        } else {
            columns.append(TextTable.Column(title: "TITLE"))
        }
        let table = TextTable(columns: columns, rows: entries.map { cells($0, isWide: isWide) })
        return table.lines(width: style.columns, ellipsis: style.glyphs.ellipsis) + [sum(entries)]
    }

    /// The size on the disk and the name of `entry`, without a column.
    func brief(_ entry: CachedItem) -> String {
        "\(SizeText.text(entry.allocatedBytes))  \(style.shown(entry.name(dash: style.glyphs.dash)))"
    }

    /// A line for each known fact of `entry`: those of `reprise cache info`.
    func details(_ entry: CachedItem) -> [String] {
        let stored = entry.stream == nil ? entry.stored : ByteRangeSet()
        let ranges = stored.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        let gaps = entry.stream == nil ? entry.length.map { stored.gaps(in: 0..<$0) } ?? [] : []
        let missing = gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        var rows: [(name: String, value: String?)] = [("source", entry.url.string)]
        rows += entry.otherURLs.map { ("also as", $0.string) }
        rows += [
            ("title", entry.tags.title?.string),
            ("artist", entry.tags.artist?.string),
            ("duration", entry.duration?.clockTime),
            ("type", entry.contentType?.string),
            ("size", entry.length.map { "\(SizeText.text($0)) (\($0) bytes)" }),
            ("cached", "\(SizeText.text(entry.storedBytes)) (\(entry.storedBytes) bytes)"),
            ("share", entry.percent.map { "\($0) %" }),
            ("segments", entry.stream.map { "\($0.text) of \($0.count)" }),
            ("ranges", ranges.isEmpty ? nil : ranges),
            ("missing", missing.isEmpty ? nil : missing),
            ("on disk", "\(SizeText.text(entry.allocatedBytes)) (\(entry.allocatedBytes) bytes)"),
            ("seekable", entry.acceptsRanges.map { $0 ? "yes" : "no" }),
            ("etag", entry.etag?.string),
            ("last modified", entry.lastModified?.string),
            ("pinned", entry.isPinned ? "yes" : "no"),
            ("first cached", entry.created.map(time)),
            ("last played", entry.lastPlayed == 0 ? "never" : time(entry.lastPlayed)),
        ]
        let known = rows.compactMap { row in
            row.value.map { [SafeText(row.name), style.shown(SafeText($0))] }
        }
        return TextTable(columns: [.init(), .init()], rows: known).lines(width: nil)
    }

    private func cells(_ entry: CachedItem, isWide: Bool) -> [SafeText] {
        let cells: [SafeText] = [
            entry.length.map { SafeText(SizeText.text($0)) } ?? "?",
            SafeText(entry.percent.map { "\($0) %" } ?? SizeText.text(entry.storedBytes)),
            RangeBar.text(entry.stored, length: entry.length, glyphs: style.glyphs),
            entry.lastPlayed == 0 ? "never" : SafeText(time(entry.lastPlayed)),
            entry.created.map { AgeText.text(seconds: now &- $0) } ?? "?",
            entry.isPinned ? "*" : "",
        ]
        let music = style.shown(entry.name(dash: style.glyphs.dash))
        guard isWide else { return cells + [music] }
        return cells + [
            entry.tags.title == nil ? "" : music,
            style.shown(SafeText(PercentEncoding.decoded(entry.url.string))),
        ]
    }

    private func sum(_ entries: [CachedItem]) -> String {
        let stored = entries.reduce(Int64(0)) { $0 &+ $1.storedBytes }
        let pinned = entries.count(where: \.isPinned)
        let lists = entries.count(where: \.isList)
        let text = "\(CountText.tracks(entries.count - lists, lists: lists)), \(SizeText.text(stored)) cached"
        return pinned > 0 ? text + ", \(pinned) pinned" : text
    }
}

extension CachedItem {
    /// `true` for a playlist, a feed or a web folder: a resource without a length in time that is named or
    /// typed as one.
    var isList: Bool {
        tags.title == nil && duration == nil && stream == nil
            && ResourceKind.isList(contentType: contentType?.string, url: url.string)
    }
}

// Entries as JSON objects. Fields may be added, but none renamed.
extension CachedItem {
    var listFields: [(key: String, value: EventField)] {
        [
            ("source", .text(url)),
            ("title", .text(orNone: tags.title)),
            ("artist", .text(orNone: tags.artist)),
            ("duration", .seconds(orNone: duration)),
            ("type", .text(orNone: contentType)),
            ("size", .integer(orNone: length)),
            ("stored", .integer(storedBytes)),
            ("lastPlayed", .integer(lastPlayed)),
            ("created", .integer(orNone: created)),
            ("allocated", .integer(allocatedBytes)),
            ("complete", .flag(isComplete)),
            ("pinned", .flag(isPinned)),
        ] + EventLine.albumFields(of: tags) + streamFields
    }

    private var streamFields: [(key: String, value: EventField)] {
        stream.map { [("segments", .segments($0.segments))] } ?? []
    }

    var infoFields: [(key: String, value: EventField)] {
        listFields + [
            ("ranges", .ranges((stream?.ranges ?? stored).ranges)),
            ("etag", .text(orNone: etag)),
            ("lastModified", .text(orNone: lastModified)),
            ("seekable", acceptsRanges.map { .flag($0) } ?? .none),
            ("alsoAs", .list(otherURLs.map { .text($0) })),
        ]
    }
}

extension StreamContents {
    /// The cached segments, numbered from 1.
    fileprivate var text: String {
        let runs = segments.map {
            $0.count == 1 ? "\($0.upperBound)" : "\($0.lowerBound + 1)-\($0.upperBound)"
        }
        return runs.isEmpty ? "none" : runs.joined(separator: " ")
    }
}

extension EventField {
    /// Runs of segments as pairs of numbers from 0, the second exclusive.
    static func segments(_ runs: [Range<Int>]) -> EventField {
        .list(runs.map { .list([.integer(Int64($0.lowerBound)), .integer(Int64($0.upperBound))]) })
    }

    static func integer(orNone number: Int64?) -> EventField { number.map { .integer($0) } ?? .none }

    /// Ranges as pairs of offsets, the second exclusive.
    static func ranges(_ ranges: some Sequence<ByteRange>) -> EventField {
        .list(ranges.map { .list([.integer($0.lowerBound), .integer($0.upperBound)]) })
    }
}

/// A table that is fitted to a terminal. Pure.
///
/// Columns are two spaces apart. The last column gets the remaining width, and its cells are truncated.
struct TextTable: Sendable {
    struct Column: Sendable, Equatable {
        /// Empty in a table without titles.
        var title: SafeText = ""
        var isRightAligned = false
        /// If there is no room, the columns with the highest rank are left out first; 0 is never left out.
        var dropRank = 0
        /// The greatest width of the column if the table's width is limited; `nil` for no limit.
        var most: Int?
    }

    /// The least width of the last column; with less room, another column is left out.
    static let leastForLast = 20

    var columns: [Column]
    /// The rows, each with one cell per column.
    var rows: [[SafeText]]

    /// A line of titles, if there are any, and one for each row. None is wider than `width` columns of the
    /// terminal; with `nil` there is no limit, and nothing is truncated or left out.
    func lines(width: Int?, ellipsis: SafeText = "…") -> [String] {
        var shown = Array(columns.indices)
        var widths = columns.indices.map { self.width(of: $0, isLimited: width != nil) }
        if let width {
            while room(for: shown, widths, in: width) < Self.leastForLast,
                let next = shown.max(by: { columns[$0].dropRank < columns[$1].dropRank }),
                columns[next].dropRank > 0
            {
                shown.removeAll { $0 == next }
            }
            if let last = shown.last {
                widths[last] = min(widths[last], max(1, room(for: shown, widths, in: width)))
            }
        }
        let titles = columns.map(\.title)
        return ((titles.allSatisfy(\.isEmpty) ? [] : [titles]) + rows).map { row in
            let line = shown.map { index in
                let cell =
                    width == nil ? row[index] : row[index].cut(toColumns: widths[index], ellipsis: ellipsis)
                let padding = String(repeating: " ", count: max(0, widths[index] - cell.columns))
                if columns[index].isRightAligned { return padding + cell.string }
                return index == shown.last ? cell.string : cell.string + padding
            }.joined(separator: "  ")
            return width.map { SafeText(line).cut(toColumns: $0, ellipsis: ellipsis).string } ?? line
        }
    }

    private func width(of column: Int, isLimited: Bool) -> Int {
        let natural = max(columns[column].title.columns, rows.map { $0[column].columns }.max() ?? 0)
        guard isLimited, let most = columns[column].most else { return natural }
        return min(natural, most)
    }

    /// The columns left for the last of `shown`.
    private func room(for shown: [Int], _ widths: [Int], in width: Int) -> Int {
        width - shown.dropLast().reduce(0) { $0 + widths[$1] + 2 }
    }
}
