internal import Glibc
internal import System

/// Reads the events of a terminal, in a mode without line editing.
struct TerminalInput {
    /// The wait for the rest of a sequence; after that, a lone escape is the Escape key.
    private static let sequenceDelay = Duration.milliseconds(25)

    /// The wait at the end for a reply that has not come yet.
    private static let replyDelay = Duration.milliseconds(100)

    let descriptor: Int32
    private var decoder = KeyDecoder()

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The events that have arrived, `nil` if the terminal is lost. Call it if `poll` reports input; then it
    /// blocks no longer than for the rest of a sequence.
    mutating func readEvents() -> [UIEvent]? {
        guard let bytes = readBytes() else { return nil }
        var events = decoder.events(bytes)
        while decoder.isIncomplete {
            guard state(within: Self.sequenceDelay) != 0, let more = readBytes(), !more.isEmpty else {
                return events + decoder.flush()
            }
            events += decoder.events(more)
        }
        return events
    }

    /// The terminal was asked a question.
    mutating func asked() { decoder.awaitsReply = true }

    /// Reads the reply to a question that was just asked, so that the next program does not; waits for it no
    /// longer than a terminal needs.
    mutating func dropReply() {
        while decoder.awaitsReply {
            guard state(within: Self.replyDelay) != 0, let bytes = readBytes(), !bytes.isEmpty else { return }
            _ = decoder.events(bytes)
        }
    }

    /// The bytes of one read: empty for Ctrl-D in a line, `nil` if the terminal is lost.
    func readBytes() -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
        if count == 0, state(within: .zero) & Int16(POLLHUP | POLLERR) != 0 { return nil }
        return Array(chunk[..<count])
    }

    /// The events that `Poll` finds on the terminal within `limit`; 0 if none.
    private func state(within limit: Duration) -> Int16 {
        Poll.wait(reading: [descriptor], atMost: limit)?[0] ?? 0
    }
}

/// Detects double presses. Pure: the caller passes the time.
package struct ClickCounter: Sendable {
    /// The longest time between the two presses, as on desktops.
    private static let longest = Duration.milliseconds(400)

    private var last: (column: Int, row: Int, at: Duration)?

    /// The event itself, followed by a double press if it is the second press at its place.
    package mutating func events(for event: MouseEvent, at now: Duration) -> [MouseEvent] {
        guard event.kind != .release else { return [event] }
        guard event.kind == .press else {
            last = nil
            return [event]
        }
        if let last, last.column == event.column, last.row == event.row, now - last.at <= Self.longest {
            // A third press counts as a first one.
            self.last = nil
            return [event, MouseEvent(.doublePress, column: event.column, row: event.row)]
        }
        last = (event.column, event.row, now)
        return [event]
    }
}
