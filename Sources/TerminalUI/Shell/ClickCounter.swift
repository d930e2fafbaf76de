/// Tells a double press from two presses. Pure: the time comes in.
package struct ClickCounter: Sendable {
    /// What desktops take for the longest time between the two.
    package static let longest = Duration.milliseconds(400)

    private var last: (column: Int, row: Int, at: Duration)?

    package init() {}

    /// The events that `event` amounts to: itself, and after it a double press where it is the second one.
    package mutating func events(for event: MouseEvent, at now: Duration) -> [MouseEvent] {
        guard event.kind == .press else {
            last = nil
            return [event]
        }
        if let last, last.column == event.column, last.row == event.row, now - last.at <= Self.longest {
            // A third press begins anew.
            self.last = nil
            return [event, MouseEvent(.doublePress, column: event.column, row: event.row)]
        }
        last = (event.column, event.row, now)
        return [event]
    }
}
