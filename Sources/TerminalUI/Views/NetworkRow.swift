internal import Media

/// One request, or one decision about some, as the network view shows it. Pure.
struct NetworkRow {
    static let columns = [
        RowTable.Column(title: "TIME", width: 8, dropRank: 3),
        RowTable.Column(title: "WHY", width: 11),
        RowTable.Column(title: "FROM", width: 7, isRightAligned: true, dropRank: 2),
        RowTable.Column(title: "BYTES", width: 7, isRightAligned: true),
        RowTable.Column(title: "FIRST", width: 7, isRightAligned: true, dropRank: 4),
        RowTable.Column(title: "RATE", width: 8, isRightAligned: true, dropRank: 1),
        RowTable.Column(title: "END", width: 0),
    ]

    /// One for each column.
    var cells: [SafeText]
    /// What a decision was taken for: it has no bytes, and takes their place.
    var reason: SafeText = ""
    var isError = false

    /// A request that has ended, or a decision; `time` is when it ended, as it is shown.
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

    /// A request that is under way, with what it has brought by now; `began` is when, as it is shown.
    init(underWay request: RequestRecord, of resource: SafeText, began: SafeText, glyphs: Glyphs) {
        let range = request.answered ?? request.asked
        let end = range.flatMap { $0.upperBound == .max ? nil : " to " + ByteText.text($0.upperBound) } ?? ""
        cells = Self.cells(of: request, time: began)
        cells.append(glyphs.more + SafeText(end) + " " + Self.name(of: resource))
    }

    /// All but the last, which tells the end.
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

    /// Of the bytes behind the first, so that the wait for it does not count; empty where there is nothing to measure.
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
