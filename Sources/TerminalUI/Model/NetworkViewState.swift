package import Media

/// The newest requests and decisions as the screen shows them, the oldest first, and behind them what is under way. Pure.
package struct NetworkViewState: Sendable {
    package internal(set) var list = ListPosition()
    package private(set) var records: [JournalRecord] = []
    /// How many were recorded when these were taken.
    package private(set) var recordCount = 0
    /// What requests for the current track are still to bring.
    package private(set) var inFlight: [ByteRange] = []

    /// What comes is followed while the last row is selected; else what is looked at stays.
    mutating func show(_ records: [JournalRecord], count: Int) {
        let follows = list.isAtEnd
        // Of a full ring as many were forgotten as came.
        let forgotten = count - recordCount - (records.count - self.records.count)
        let row = list.selected - max(0, forgotten)
        self.records = records
        recordCount = count
        fit(follows: follows, row: row)
    }

    mutating func show(inFlight: [ByteRange]) {
        guard inFlight.count != self.inFlight.count else {
            self.inFlight = inFlight
            return
        }
        let follows = list.isAtEnd
        self.inFlight = inFlight
        fit(follows: follows, row: list.selected)
    }

    private mutating func fit(follows: Bool, row: Int) {
        list.resize(count: records.count + inFlight.count, height: list.height)
        list.select(follows ? list.count - 1 : row)
    }
}
