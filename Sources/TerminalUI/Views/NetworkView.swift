package import Media

/// The list of the newest requests and decisions, the oldest first, with running requests at the end. Pure.
package struct NetworkViewState: Sendable {
    package internal(set) var list = ListPosition()
    package private(set) var records: [JournalRecord] = []
    /// The number of all records so far, when `records` was read.
    package private(set) var recordCount = 0
    /// The running requests, in the order they began.
    package private(set) var underWay: [JournalRecord] = []

    /// The record shown in a row.
    package subscript(row: Int) -> JournalRecord {
        row < records.count ? records[row] : underWay[row - records.count]
    }

    /// Shows the newest records. The selection follows them if it is on the last row; otherwise it stays on
    /// its record.
    mutating func show(_ records: [JournalRecord], count: Int, underWay: [JournalRecord]) {
        let follows = list.isAtEnd
        // The history is a ring: once it is full, each new record drops the oldest and shifts the rows.
        let dropped = count - recordCount - (records.count - self.records.count)
        let row = list.selected - max(0, dropped)
        self.records = records
        self.underWay = underWay
        recordCount = count
        list.resize(count: records.count + underWay.count, height: list.height)
        list.select(follows ? list.count - 1 : row)
    }
}

/// Draws the list of requests: their purpose, range, speed and result.
struct NetworkView {
    var glyphs: Glyphs
    var timeOfDay: @Sendable (Duration) -> SafeText

    func draw(_ state: NetworkViewState, layout: ScreenLayout, into buffer: inout CellBuffer) {
        guard state.list.count > 0 else {
            guard let row = layout.listRows.first else { return }
            let text: SafeText = "No network requests yet"
            buffer.draw(text, column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            return
        }
        let table = RowTable(NetworkRow.columns, width: layout.columns, glyphs: glyphs)
        if layout.tableRows != layout.listRows {
            table.drawTitles(row: layout.listRows.lowerBound, into: &buffer)
        }
        for (index, row) in zip(state.list.visible, layout.tableRows) {
            let item = self.row(index, of: state)
            let isSelected = index == state.list.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            let style = isSelected ? Style.selected : item.isError ? .error : .normal
            table.draw(
                item.cells,
                row: row,
                styles: { $0 == 0 && !isSelected ? .dim : style },
                into: &buffer
            )
            guard !item.reason.isEmpty else { continue }
            // After the columns for the time, if shown, and for the decision.
            table.draw(item.reason, from: table.shows(0) ? 2 : 1, row: row, style: style, into: &buffer)
        }
    }

    private func row(_ index: Int, of state: NetworkViewState) -> NetworkRow {
        let record = state[index]
        guard case .request(let request) = record.event, index >= state.records.count else {
            return NetworkRow(record, time: timeOfDay(record.time), glyphs: glyphs)
        }
        let began = timeOfDay(request.startedAt)
        return NetworkRow(underWay: request, of: record.resource, began: began, glyphs: glyphs)
    }
}

/// The row of one request, or of one decision of the loader. Pure.
private struct NetworkRow {
    static let columns = [
        RowTable.Column(title: "TIME", width: 8, dropRank: 3),
        RowTable.Column(title: "WHY", width: 11),
        RowTable.Column(title: "FROM", width: 7, isRightAligned: true, dropRank: 2),
        RowTable.Column(title: "BYTES", width: 7, isRightAligned: true),
        RowTable.Column(title: "FIRST", width: 7, isRightAligned: true, dropRank: 4),
        RowTable.Column(title: "RATE", width: 8, isRightAligned: true, dropRank: 1),
        RowTable.Column(title: "END", width: 0),
    ]

    /// One text for each column.
    var cells: [SafeText]
    /// The reason for a decision, drawn across the columns that a decision leaves empty.
    var reason: SafeText = ""
    var isError = false

    /// A finished request, or a decision, with the time of day of its end.
    init(_ record: JournalRecord, time: SafeText, glyphs: Glyphs) {
        let name = Self.name(of: record.resource)
        switch record.event {
        case .decision(let decision, let reason):
            cells = [time, SafeText(decision.rawValue), "", "", "", "", ""]
            self.reason = reason
            isError = decision == .gaveUp || decision == .wentOffline
        case .request(let request):
            let end = [
                request.status.map { SafeText("\($0)") } ?? "",
                request.end == "complete" ? "" : SafeText(request.end), name,
                request.wire.redirectedHost.map { "from " + $0 } ?? "",
            ].filter { !$0.isEmpty }.map(\.string).joined(separator: " ")
            cells = Self.cells(of: request, time: time) + [SafeText(end)]
            isError = !["complete", "cancelled"].contains(request.end)
        }
    }

    /// A running request with the bytes received so far; `began` is the time of day of its start.
    init(underWay request: RequestRecord, of resource: SafeText, began: SafeText, glyphs: Glyphs) {
        let range = request.answered ?? request.asked
        let end = range.flatMap { $0.upperBound == .max ? nil : " to " + ByteText.text($0.upperBound) } ?? ""
        cells = Self.cells(of: request, time: began)
        cells.append(glyphs.more + SafeText(end) + " " + Self.name(of: resource))
    }

    /// The texts of all columns but the last.
    private static func cells(of request: RequestRecord, time: SafeText) -> [SafeText] {
        [
            time, SafeText(request.why.rawValue), start(of: request.answered ?? request.asked),
            SafeText(ByteText.text(request.bytes)), request.firstByte.map { text($0) } ?? "",
            rate(of: request),
        ]
    }

    private static func name(of resource: SafeText) -> SafeText {
        resource.string.split(separator: "/").last.map { SafeText($0) } ?? ""
    }

    private static func start(of range: ByteRange?) -> SafeText {
        SafeText(range.map { ByteText.text($0.lowerBound) } ?? "")
    }

    /// Measured from the first byte on, so that the wait for it does not count; empty if too short to measure.
    private static func rate(of request: RequestRecord) -> SafeText {
        let time = (request.duration - (request.firstByte ?? .zero)).seconds
        guard request.bytes > 0, time > 0.001 else { return "" }
        let rate = Int64(min(Double(request.bytes) / time, 1e14))
        return SafeText("\(ByteText.text(rate, decimalsBelow: 10))/s")
    }

    /// `21 ms`, `1.4 s`.
    private static func text(_ time: Duration) -> SafeText {
        let milliseconds = max(0, Int64(min(time.seconds, 1e9) * 1_000))
        if milliseconds < 1_000 { return SafeText("\(milliseconds) ms") }
        return SafeText("\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s")
    }
}
