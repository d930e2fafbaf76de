package import Media

extension ViewName {
    package static let network = ViewName(word: "network", help: "network requests")
}

/// The list of the newest requests and decisions, the oldest first, with running requests at the end: their
/// purpose, range, speed and result. Neighbours that differ in their bytes only are one row. Pure.
package struct NetworkView: ListView {
    static let name = ViewName.network
    static let prompts = [Prompt.Kind.search]

    package internal(set) var list = ListPosition()
    package private(set) var records: [JournalRecord] = []
    /// The number of all records made before `records` was read, including those that the history has
    /// dropped.
    package private(set) var recordCount = 0
    /// The running requests, in the order they began.
    package private(set) var underWay: [JournalRecord] = []
    /// The places in `records` of those that each row shows.
    private var folds: [Range<Int>] = []

    /// The records shown in a row, the oldest first.
    package subscript(row: Int) -> ArraySlice<JournalRecord> {
        row < folds.count ? records[folds[row]] : underWay.dropFirst(row - folds.count).prefix(1)
    }

    func rows(in layout: ScreenLayout) -> Range<Int> { layout.tableRows }

    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool {
        guard let record = self[item].last else { return false }
        let words: [String] =
            switch record.event {
            case .decision(let decision, let reason): [decision.rawValue, reason.string]
            case .request(let request): [request.urgency.rawValue, request.end]
            }
        let names = [TrackName.file(at: record.resource).string, record.resource.string]
        return matcher.matches((words + names).joined(separator: " "))
    }

    func facts(in context: ViewContext) -> [Fact] { self[list.selected].last.map { Fact.all(of: $0) } ?? [] }

    func news(in surroundings: ScreenSurroundings, isOpen: Bool) -> UIEvent? {
        guard isOpen, let requests = surroundings.requests else { return nil }
        // In this order: a request that ends in between appears twice in one frame, rather than not at all.
        let underWay = requests.underWay
        guard requests.recordCount != recordCount || underWay != self.underWay else { return nil }
        let newest = requests.newest
        return .requests(newest.records, count: newest.count, underWay: underWay)
    }

    /// Shows the newest records. The selection follows them if it is on the last row; otherwise it stays on
    /// its record.
    mutating func receive(_ event: UIEvent) -> CommandAnswer? {
        guard case .requests(let records, let count, let underWay) = event else { return nil }
        let follows = list.isAtEnd
        let selected = number(ofRow: list.selected)
        self.records = records
        self.underWay = underWay
        recordCount = count
        folds = Self.folded(records)
        list.resize(count: folds.count + underWay.count, height: list.height)
        list.select(follows ? list.count - 1 : row(of: selected))
        return nil
    }

    /// The number of the last record of a row, among all that were ever made: the history is a ring, so once
    /// it is full, each new record drops the oldest.
    private func number(ofRow row: Int) -> Int {
        let place = row < folds.count ? folds[row].upperBound - 1 : records.count + row - folds.count
        return recordCount - records.count + place
    }

    private func row(of number: Int) -> Int {
        let place = number - (recordCount - records.count)
        guard place < records.count else { return folds.count + place - records.count }
        return folds.partitioningIndex { $0.upperBound > place }
    }

    /// Joins neighbours that are complete requests of one resource for the same purpose.
    private static func folded(_ records: [JournalRecord]) -> [Range<Int>] {
        var folds: [Range<Int>] = []
        for (place, record) in records.enumerated() {
            if let last = folds.last, record.isLike(records[last.lowerBound]) {
                folds[folds.count - 1] = last.lowerBound..<place + 1
            } else {
                folds.append(place..<place + 1)
            }
        }
        return folds
    }

    // MARK: Drawing

    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        [SafeText(CountText.of(recordCount, "entry", "entries"))]
    }

    private static let columns = [
        RowTable.Column(title: "TIME", width: 8, isDim: true, dropRank: 3),
        RowTable.Column(title: "WHY", width: 11),
        RowTable.Column(title: "FROM", width: 7, isRightAligned: true, dropRank: 5),
        RowTable.Column(title: "BYTES", width: 7, isRightAligned: true),
        RowTable.Column(title: "WAIT", width: 7, isRightAligned: true, dropRank: 2),
        RowTable.Column(title: "RATE", width: 8, isRightAligned: true, dropRank: 4),
        RowTable.Column(title: "STATUS", width: 6, isRightAligned: true, dropRank: 1),
        RowTable.Column(title: "TRACK", width: 0),
    ]

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let layout = context.layout
        guard list.count > 0 else {
            return buffer.drawPlaceholder("No network requests yet", rows: layout.listRows)
        }
        let glyphs = buffer.glyphs
        let table = RowTable(Self.columns, note: "NOTE", width: buffer.columns)
        table.draw(list, layout: layout, into: &buffer) { row in
            let group = self[row]
            guard let record = group.last else { return RowTable.Row(cells: []) }
            switch record.event {
            case .decision(let decision, let reason):
                let cells = [timeOfDay(record.time), SafeText(decision.rawValue), reason]
                let isError = decision == .gaveUp || decision == .wentOffline
                return RowTable.Row(cells: cells, style: isError ? .error : .normal)
            case .request(let request) where row < folds.count:
                let cells = cells(of: group.compactMap(\.request), time: timeOfDay(record.time))
                let count = group.count > 1 ? "\(glyphs.times)\(group.count)" : nil
                return RowTable.Row(
                    cells: cells + [name(of: record)],
                    note: note(on: request, count: count),
                    style: request.style,
                    matcher: context.searched
                )
            case .request(let request):
                // A running request shows the time of its start and the bytes received so far.
                let range = request.answered ?? request.asked
                let end = range.flatMap {
                    $0.upperBound == .max ? nil : " to " + SizeText.text($0.upperBound)
                }
                let cells = cells(of: [request], time: timeOfDay(request.startedAt))
                let note = glyphs.more + SafeText(end ?? "")
                return RowTable.Row(cells: cells + [name(of: record)], note: note, style: .notice)
            }
        }
    }

    private func note(on request: RequestRecord, count: String?) -> SafeText {
        let parts = [
            count, request.end == "complete" ? nil : request.end,
            request.wire.redirectedHost.map { "from " + $0.string },
        ]
        return SafeText(parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// The texts of all columns but the last, of requests for one purpose.
    private func cells(of requests: [RequestRecord], time: SafeText) -> [SafeText] {
        guard let first = requests.first else { return [] }
        return [
            time, SafeText(first.urgency.rawValue), start(of: first.answered ?? first.asked),
            SafeText(SizeText.text(requests.reduce(0) { $0 &+ $1.bytes })),
            first.firstByte.map { text($0) } ?? "", rate(of: requests),
            first.status.map { SafeText("\($0)") } ?? "",
        ]
    }

    private func name(of record: JournalRecord) -> SafeText { TrackName.file(at: record.resource) }

    private func start(of range: ByteRange?) -> SafeText {
        SafeText(range.map { SizeText.text($0.lowerBound) } ?? "")
    }

    /// Measured from the first byte on, so that the wait for it does not count; empty if too short to
    /// measure.
    private func rate(of requests: [RequestRecord]) -> SafeText {
        let time = requests.reduce(0) { $0 + ($1.duration - ($1.firstByte ?? .zero)).seconds }
        let bytes = requests.reduce(0) { $0 &+ $1.bytes }
        guard bytes > 0, time > 0.001 else { return "" }
        return SafeText(SizeText.rate(Double(bytes) / time, decimalsBelow: 10))
    }

    /// `21 ms`, `1.4 s`.
    private func text(_ time: Duration) -> SafeText {
        let milliseconds = max(0, Int64(min(time.seconds, 1e9) * 1_000))
        if milliseconds < 1_000 { return SafeText("\(milliseconds) ms") }
        return SafeText("\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s")
    }
}

extension RequestRecord {
    /// Red if it failed, by its status or otherwise; grey if it was cancelled, or told that nothing has
    /// changed.
    fileprivate var style: Style {
        switch end {
        case "complete": (status ?? 0) >= 400 ? .error : status == 304 ? .dim : .normal
        case "cancelled": .dim
        default: .error
        }
    }
}

extension JournalRecord {
    fileprivate var request: RequestRecord? { if case .request(let request) = event { request } else { nil } }

    /// `true` if both are complete requests of one resource, for the same purpose and with the same answer.
    fileprivate func isLike(_ other: JournalRecord) -> Bool {
        guard let request, let before = other.request, resource == other.resource else { return false }
        return request.urgency == before.urgency && request.status == before.status
            && request.end == "complete" && before.end == "complete"
            && request.wire.redirectedHost == before.wire.redirectedHost
    }
}
