import Media
import System

/// Passes a live stream from its responses to the decoder, through a bounded buffer.
///
/// A thin shell: `LiveState` decides. One task reads the body and reconnects when it ends, since a live
/// stream has no end of its own. Nothing of it is cached.
final class LiveStream: Sendable {
    private struct Guarded {
        var state: LiveState
        var readers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextReader = 1
        /// The pump's continuation, while it waits for room in the buffer.
        var pump: CheckedContinuation<Void, Never>?
        var body: any ResponseBody
        var task: Task<Void, Never>?
        /// The sleep before the next attempt.
        var nap: Task<Void, Never>?
        var isClosed = false
        var fetchedBytes: Int64 = 0
        var requestCount = 0

        mutating func takeReaders() -> [CheckedContinuation<Void, any Error>] {
            defer { readers = [:] }
            return Array(readers.values)
        }
    }

    private let url: WebURL
    private let parts: LoaderParts
    // Guards all mutable state. While it is held, no other code is called and no continuation resumed.
    private let guarded: Locked<Guarded>

    /// Takes over the body of `response`, whose next byte is at `offset` of the resource.
    init(url: WebURL, parts: LoaderParts, _ response: RangeResponse, at offset: Int64) {
        self.url = url
        self.parts = parts
        let state = LiveState(
            subject: url.safeText,
            offset: offset,
            answer: response.answer,
            retry: RetryState(policy: parts.settings.retry, seed: .random(in: 0 ... .max))
        )
        guarded = Locked(Guarded(state: state, body: response.body))
    }

    /// Starts to read. `log` is the record of the body's request. Called once.
    func begin(_ log: RequestLog?) {
        let isClosed = guarded.withLock { guarded in
            guard !guarded.isClosed else { return true }
            let first = Connection(body: guarded.body, log: log)
            // Started under the lock, so that a close that follows finds the task.
            guarded.task = Task { await self.pump(first) }
            return false
        }
        if isClosed { log?.ended("cancelled") }
    }

    /// Reads up to `count` bytes from `offset` on, and waits for at least one. Empty past the end of a body
    /// that turned out to be a file.
    ///
    /// Throws `CancellationError` after `close` and if the task is cancelled, and `MediaError` if the bytes
    /// were dropped, or after the last attempt to reconnect.
    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        while true {
            try Task.checkCancellation()
            let (outlook, pump) = guarded.withLock {
                guarded -> (LiveState.Outlook, CheckedContinuation<Void, Never>?) in
                let outlook = guarded.state.read(at: offset, count: count)
                return (outlook, guarded.state.hasRoom ? guarded.pump.take() : nil)
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
                    // The handler below may have run before the reader was added.
                    if Task.isCancelled || guarded.isClosed { return .failure(CancellationError()) }
                    if guarded.state.isOver || offset < guarded.state.end { return .success(()) }
                    guarded.readers[id] = reader
                    return nil
                }
                if let result { reader.resume(with: result) }
            }
        } onCancel: {
            guarded.withLock { $0.readers.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Adds the facts of the stream: it cannot be seeked and is not cached. It has a length only if it
    /// turned out to be a file.
    func add(to report: inout LoadReport) {
        let (state, fetched, requests) = guarded.withLock { ($0.state, $0.fetchedBytes, $0.requestCount) }
        report.length = state.length
        report.isSeekable = false
        report.isCached = false
        report.live = state.report
        report.wait = state.wait
        report.inFlight = []
        report.stored.insert(contentsOf: state.buffered)
        report.fetchedBytes += fetched
        report.requestCount += requests
    }

    /// The network is back: the next attempt begins at once.
    func networkReturned() {
        let nap = guarded.withLock { guarded -> Task<Void, Never>? in
            guard guarded.state.wait != nil else { return nil }
            guarded.state.networkReturned()
            return guarded.nap
        }
        nap?.cancel()
    }

    /// Ends the transfer and every waiting read; returns when the stream's task has ended.
    func close() async {
        let (readers, pump, body, task) = guarded.withLock { guarded in
            guarded.isClosed = true
            return (guarded.takeReaders(), guarded.pump.take(), guarded.body, guarded.task)
        }
        for reader in readers { reader.resume(throwing: CancellationError()) }
        // The task is cancelled first: otherwise it would take the end of the body for a broken connection,
        // and reconnect.
        task?.cancel()
        body.cancel()
        pump?.resume()
        await task?.value
    }

    // MARK: Connections, one after another

    /// One connection and its record for the journal, which is written when its body has ended.
    private struct Connection {
        let body: any ResponseBody
        var log: RequestLog?
    }

    private struct Refusal: Error {
        var error: MediaError
        var retryAfter: Duration?
    }

    private var isClosed: Bool { guarded.withLock { $0.isClosed } }

    /// Reads `first`, then one connection after another, until the stream has ended, was closed or was given
    /// up.
    private func pump(_ first: Connection) async {
        var connection: Connection? = first
        while true {
            var error: MediaError?
            var retryAfter: Duration?
            do throws(Refusal) {
                if connection == nil { connection = try await connect() }
                if let open = connection.take() { error = await drain(open) }
            } catch let refusal {
                error = refusal.error
                retryAfter = refusal.retryAfter
            }
            guard !isClosed, let wait = note(error, retryAfter), await sleep(until: wait.retryAt) else {
                return
            }
        }
    }

    /// Stores the bytes of the body until it ends; returns the error that ended it.
    private func drain(_ connection: Connection) async -> MediaError? {
        let body = connection.body
        var log = connection.log
        var failure: MediaError?
        do {
            while let bytes = try await body.next() {
                let title = body.takeTitle()
                log?.received(bytes.count)
                let readers = guarded.withLock { guarded in
                    guarded.fetchedBytes += Int64(bytes.count)
                    guarded.state.received(bytes, title: title)
                    return guarded.takeReaders()
                }
                for reader in readers { reader.resume() }
                await waitForRoom()
            }
        } catch {
            failure = cut(error, "the connection was given up")
        }
        body.cancel()
        log?.ended(isClosed ? "cancelled" : failure?.code.rawValue ?? "complete")
        return failure
    }

    /// `error`, but `.cut` in place of a cancellation: if the transfer was cancelled elsewhere, the stream
    /// has to reconnect, since reads still wait.
    private func cut(_ error: any Error, _ cause: SafeText) -> MediaError {
        error as? MediaError ?? MediaError(.cut, url.safeText, cause)
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = guarded.withLock { guarded in
                guard !guarded.isClosed, !guarded.state.hasRoom else { return true }
                guarded.pump = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }

    /// Sleeps until `time`, or until the network is back; returns `false` if the stream was closed in the
    /// meantime.
    private func sleep(until time: Duration) async -> Bool {
        let nap = guarded.withLock { guarded -> Task<Void, Never>? in
            guard guarded.state.wait != nil else { return nil }
            let nap = Task { [clock = parts.clock] in _ = try? await clock.sleep(until: time) }
            guarded.nap = nap
            return nap
        }
        if let nap {
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
        }
        guarded.withLock { $0.nap = nil }
        return !Task.isCancelled
    }

    private func connect() async throws(Refusal) -> Connection {
        let request = RangeRequest(url: url, range: nil, wantsTitles: true)
        var log = parts.log(request, .demand)
        guarded.withLock { $0.requestCount += 1 }
        let response: RangeResponse
        do {
            response = try await parts.transport.send(request)
        } catch {
            log?.failed(error)
            let error = cut(error, "the connection was given up before it answered")
            if error.isUnsent { guarded.withLock { $0.requestCount -= 1 } }
            throw Refusal(error: error)
        }
        let answer = response.answer
        log?.answered(answer)
        let (isClosed, error) = guarded.withLock { guarded -> (Bool, MediaError?) in
            guarded.requestCount += answer.requestCount - 1
            let error = guarded.state.connected(answer)
            if error == nil, !guarded.isClosed { guarded.body = response.body }
            return (guarded.isClosed, error)
        }
        if let error {
            response.body.cancel()
            log?.ended(isClosed ? "cancelled" : error.code.rawValue)
            throw Refusal(error: error, retryAfter: answer.retryAfter)
        }
        if isClosed { response.body.cancel() }
        return Connection(body: response.body, log: log)
    }

    /// Passes the end of a connection, or a failed attempt, to the state. Resumes the reads if no attempt
    /// follows.
    private func note(_ error: MediaError?, _ retryAfter: Duration?) -> LoadWait? {
        let network = parts.network
        let (wait, hasEnded, readers) = guarded.withLock { [now = parts.clock.now] guarded in
            let wait = guarded.state.ended(error, retryAfter: retryAfter, network: network, now: now)
            let hasEnded = guarded.state.length != nil
            return (wait, hasEnded, wait == nil ? guarded.takeReaders() : [])
        }
        for reader in readers { reader.resume() }
        if let wait {
            parts.decided(.retryLater, wait.error.safeText, about: url.safeText)
        } else if !hasEnded {
            parts.decided(.gaveUp, "the live stream does not come back", about: url.safeText)
        }
        return wait
    }
}
