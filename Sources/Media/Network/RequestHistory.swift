package import System

/// Remembers the newest requests and decisions, and the requests in progress.
///
/// Recording holds a lock for some microseconds only. All calls may be made from any thread.
package final class RequestHistory: RequestJournal {
    /// The most records, enough to explain the last minutes; a screen shows only some of them.
    package static let longest = 500

    private struct State {
        var records: [JournalRecord] = []
        var count = 0
        /// The requests in progress, by number.
        var open: [Int: JournalRecord] = [:]
    }

    private let onward: (any RequestJournal)?
    private let state = Locked(State())
    private let observers = Observers<Void>()

    /// Passes every record on to `onward`.
    package init(onward: (any RequestJournal)? = nil) { self.onward = onward }

    package func record(_ record: JournalRecord) {
        state.withLock { state in
            if case .request(let request) = record.event { state.open[request.number] = nil }
            state.records.append(record)
            if state.records.count > Self.longest { state.records.removeFirst() }
            state.count += 1
        }
        onward?.record(record)
        observers.send(())
    }

    /// Calls the observers when a request is sent and when its response arrives, but not for the bytes of its
    /// body.
    package func progressed(_ record: JournalRecord) {
        guard case .request(let request) = record.event else { return }
        state.withLock { $0.open[request.number] = record }
        onward?.progressed(record)
        if request.bytes == 0 { observers.send(()) }
    }

    package func withdrew(_ number: Int) {
        state.withLock { $0.open[number] = nil }
        onward?.withdrew(number)
        observers.send(())
    }

    /// The requests in progress, in the order in which they began.
    package var underWay: [JournalRecord] {
        state.withLock { $0.open.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The number of records so far.
    package var recordCount: Int { state.withLock { $0.count } }

    /// The newest records, the oldest of them first, and the number of records so far.
    package var newest: (records: [JournalRecord], count: Int) {
        state.withLock { ($0.records, $0.count) }
    }

    /// Calls `observer` after each record, from any thread; it must only wake its user interface.
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
        observers.add { observer() }
    }
}
