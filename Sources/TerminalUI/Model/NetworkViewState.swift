package import Media

/// The newest requests and decisions as the screen shows them, the oldest first, and behind them what is under way. Pure.
package struct NetworkViewState: Sendable {
    package internal(set) var list = ListPosition()
    package private(set) var records: [JournalRecord] = []
    /// How many were recorded when these were taken.
    package private(set) var recordCount = 0
    /// The requests that have not ended, in the order they began.
    package private(set) var underWay: [JournalRecord] = []

    /// The record that a row shows.
    package subscript(row: Int) -> JournalRecord {
        row < records.count ? records[row] : underWay[row - records.count]
    }

    /// What comes is followed while the last row is selected; else what is looked at stays.
    mutating func show(_ records: [JournalRecord], count: Int, underWay: [JournalRecord]) {
        let follows = list.isAtEnd
        // Of a full ring as many were forgotten as came.
        let forgotten = count - recordCount - (records.count - self.records.count)
        let row = list.selected - max(0, forgotten)
        self.records = records
        self.underWay = underWay
        recordCount = count
        fit(follows: follows, row: row)
    }

    private mutating func fit(follows: Bool, row: Int) {
        list.resize(count: records.count + underWay.count, height: list.height)
        list.select(follows ? list.count - 1 : row)
    }
}
