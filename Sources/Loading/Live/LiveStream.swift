import Media
import System

/// A live stream on its way from an answer to the decoder, through a bounded buffer.
///
/// A thin shell: `LiveState` decides. One task pulls the body, and connects again when it ends: a live stream has
/// no end of its own. Nothing of it is kept.
final class LiveStream: Sendable {
    struct Guarded {
        var state: LiveState?
        /// Reads that wait for bytes.
        var readers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextReader = 1
        /// The pump, while it waits for room.
        var pump: CheckedContinuation<Void, Never>?
        var body: (any ResponseBody)?
        var task: Task<Void, Never>?
        /// The sleep before the next attempt.
        var nap: Task<Void, Never>?
        /// The network came back since the last attempt: the next one does not wait.
        var isPoked = false
        var isClosed = false
        var fetchedBytes: Int64 = 0
        var requestCount = 0

        mutating func takeReaders() -> [CheckedContinuation<Void, any Error>] {
            defer { readers = [:] }
            return Array(readers.values)
        }
    }

    let url: WebURL
    let parts: LoaderParts
    // Guards everything that changes. Nothing foreign is called, and nothing is resumed, while it is held.
    let guarded = Locked(Guarded())

    init(url: WebURL, parts: LoaderParts) {
        self.url = url
        self.parts = parts
    }

    /// Takes over the body of `response`, whose next byte is at `offset` of the resource, with the journal's line
    /// for its request. Called once.
    func begin(_ response: RangeResponse, at offset: Int64, log: RequestLog) {
        let state = LiveState(
            subject: url.safeText,
            offset: offset,
            station: response.answer.station,
            retry: RetryState(policy: parts.settings.retry, seed: .random(in: 0 ... .max))
        )
        let isClosed = guarded.withLock { guarded in
            precondition(guarded.state == nil, "a stream is begun once")
            guard !guarded.isClosed else { return true }
            guarded.state = state
            guarded.body = response.body
            // Started under the lock, so that a close that follows finds the task.
            guarded.task = Task { await self.pump(Connection(body: response.body, log: log)) }
            return false
        }
        guard isClosed else { return }
        response.body.cancel()
        tell(log, end: "cancelled")
    }

    /// Up to `count` bytes from `offset` on, at least one: waits for them. None behind the end of what proved to be
    /// a file.
    ///
    /// Throws `CancellationError` after `close` and when the task is cancelled, and `MediaError` for what lies
    /// too far back and when the server was given up.
    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        while true {
            try Task.checkCancellation()
            let (outlook, pump) = guarded.withLock {
                guarded -> (LiveState.Outlook, CheckedContinuation<Void, Never>?) in
                let outlook = guarded.state?.read(at: offset, count: count) ?? .missing
                return (outlook, guarded.state?.hasRoom == true ? guarded.pump.take() : nil)
            }
            pump?.resume()
            switch outlook {
            case .bytes(let bytes): return bytes
            case .end: return []
            case .failed(let error): throw error
            case .missing: try await waitForBytes(at: offset)
            }
        }
    }

    private func waitForBytes(at offset: Int64) async throws {
        let id = guarded.withLock { guarded in
            guarded.nextReader += 1
            return guarded.nextReader
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (reader: CheckedContinuation<Void, any Error>) in
                let result = guarded.withLock { guarded -> Result<Void, any Error>? in
                    // The handler below may have run before there was a reader to find.
                    if Task.isCancelled || guarded.isClosed { return .failure(CancellationError()) }
                    if let state = guarded.state, state.isOver || offset < state.end { return .success(()) }
                    guarded.readers[id] = reader
                    return nil
                }
                if let result { reader.resume(with: result) }
            }
        } onCancel: {
            guarded.withLock { $0.readers.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Adds what is to be said of the stream. It has no length, cannot be seeked and is not kept.
    func add(to report: inout LoadReport) {
        let (state, fetched, requests) = guarded.withLock { ($0.state, $0.fetchedBytes, $0.requestCount) }
        guard let state else { return }
        report.length = state.length
        report.isSeekable = false
        report.isKept = false
        report.live = state.report
        report.wait = state.wait
        report.inFlight = []
        report.stored.insert(contentsOf: state.buffered)
        report.fetchedBytes += fetched
        report.requestCount += requests
    }

    /// The network is there again: who waits for the next attempt tries at once.
    func networkReturned() {
        let nap = guarded.withLock { guarded -> Task<Void, Never>? in
            guard guarded.state?.wait != nil else { return nil }
            guarded.state?.networkReturned()
            guarded.isPoked = true
            return guarded.nap
        }
        nap?.cancel()
    }

    /// Ends the transfer and every waiting read; returns when nothing runs any more.
    func close() async {
        let (readers, pump, body, task) = guarded.withLock { guarded in
            guarded.isClosed = true
            defer {
                guarded.readers = [:]
                guarded.body = nil
            }
            return (Array(guarded.readers.values), guarded.pump.take(), guarded.body, guarded.task)
        }
        for reader in readers { reader.resume(throwing: CancellationError()) }
        body?.cancel()
        task?.cancel()
        pump?.resume()
        await task?.value
    }
}
