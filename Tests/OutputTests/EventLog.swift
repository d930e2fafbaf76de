import Media
import System

/// The events that an output told, in order.
final class EventLog: Sendable {
    private let events = Locked<[OutputEvent]>([])

    var all: [OutputEvent] { events.withLock { $0 } }

    var underruns: Int { all.count { $0 == .underrun } }

    var loss: MediaError? {
        for case .lost(let error) in all { return error }
        return nil
    }

    func listen(to output: any AudioOutput) {
        output.setEventHandler { [self] event in events.withLock { $0.append(event) } }
    }
}
