import Media
import System

/// Passes a live stream from its responses to the decoder, through a bounded buffer.
///
/// A thin shell: `LiveState` decides. One task reads the body and reconnects when it ends, since a live
/// stream has no end of its own. Nothing of it is cached.
final class LiveStream: Sendable {
    private struct Guarded {
        var state: LiveState?
        /// The reads that wait for bytes.
        var readers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextReader = 1
        /// The pump's continuation, while it waits for room in the buffer.
        var pump: CheckedContinuation<Void, Never>?
        var body: (any ResponseBody)?
        var task: Task<Void, Never>?
        /// The sleep before the next attempt.
        var nap: Task<Void, Never>?
        /// `true` if the network came back since the last attempt, so that the next one does not wait.
        var isPoked = false
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
    private let guarded = Locked(Guarded())

    init(url: WebURL, parts: LoaderParts) {
        self.url = url
        self.parts = parts
    }

    /// Takes over the body of `response`, whose next byte is at `offset` of the resource, and `log`, the
    /// record of its request. Called once.
    func begin(_ response: RangeResponse, at offset: Int64, log: RequestLog?) {
        let state = LiveState(
            subject: url.safeText,
            offset: offset,
            answer: response.answer,
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
        log?.ended("cancelled")
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
                    // The handler below may have run before the reader was added.
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

    /// Adds the facts of the stream: it cannot be seeked and is not cached. It has a length only if it
    /// turned out to be a file.
    func add(to report: inout LoadReport) {
        let (state, fetched, requests) = guarded.withLock { ($0.state, $0.fetchedBytes, $0.requestCount) }
        guard let state else { return }
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
            guard guarded.state?.wait != nil else { return nil }
            guarded.state?.networkReturned()
            guarded.isPoked = true
            return guarded.nap
        }
        nap?.cancel()
    }

    /// Ends the transfer and every waiting read; returns when the stream's task has ended.
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
        // The task is cancelled first: otherwise it would take the end of the body for a broken connection,
        // and reconnect.
        task?.cancel()
        body?.cancel()
        pump?.resume()
        await task?.value
    }

    // MARK: Connections, one after another

    /// One connection and its record for the journal, which is written when its body has ended.
    private struct Connection {
        let body: any ResponseBody
        var log: RequestLog?
    }

    /// Reads `first`, then one connection after another, until the stream has ended, was closed or was given
    /// up.
    private func pump(_ first: Connection) async {
        var connection: Connection? = first
        while var open = connection {
            connection = nil
            let error = await drain(&open)
            open.body.cancel()
            let isCancelled = Task.isCancelled
            open.log?.ended(isCancelled ? "cancelled" : error?.code.rawValue ?? "complete")
            if isCancelled { return }
            let network = network
            guard var wait = note({ [now = parts.clock.now] in $0.ended(error, network: network, now: now) })
            else { return }
            while connection == nil {
                guard await sleep(until: wait.retryAt) else { return }
                switch await connect() {
                case .success(let fresh): connection = fresh
                case .failure(let next):
                    guard let next else { return }
                    wait = next
                }
            }
        }
    }

    private var network: ConnectivityReport { parts.connectivity?.report ?? ConnectivityReport() }

    /// Stores the bytes of the body until it ends; returns the error that ended it.
    private func drain(_ connection: inout Connection) async -> MediaError? {
        do {
            while let bytes = try await connection.body.next() {
                let title = connection.body.takeTitle()
                connection.log?.received(bytes.count)
                let readers = guarded.withLock { guarded in
                    guarded.fetchedBytes += Int64(bytes.count)
                    guarded.state?.received(bytes, title: title)
                    return guarded.takeReaders()
                }
                for reader in readers { reader.resume() }
                await waitForRoom()
            }
            return nil
        } catch {
            // A cancellation becomes `.cut`: if the transfer was cancelled elsewhere, the stream has to
            // reconnect; after `close`, the caller ignores the error.
            let cause: SafeText = "the connection was given up"
            return error as? MediaError ?? MediaError(.cut, url.safeText, cause)
        }
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = guarded.withLock { guarded in
                guard !guarded.isClosed, let state = guarded.state, !state.hasRoom else { return true }
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
            guard !guarded.isPoked else { return nil }
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
        guarded.withLock { guarded in
            guarded.nap = nil
            guarded.isPoked = false
        }
        return !Task.isCancelled
    }

    /// The outcome of an attempt to reconnect: a connection, or the wait for the next attempt; `nil` if no
    /// attempt follows.
    private enum Attempt {
        case success(Connection)
        case failure(LoadWait?)
    }

    private func connect() async -> Attempt {
        let request = RangeRequest(url: url, range: nil, wantsTitles: true)
        var log = parts.journal.map { RequestLog(request, why: .demand, journal: $0, clock: parts.clock) }
        guarded.withLock { $0.requestCount += 1 }
        do {
            let response = try await parts.transport.send(request)
            log?.answered(response.answer)
            return taken(response, log)
        } catch let error as MediaError {
            log?.failed(error)
            if error.isUnsent { guarded.withLock { $0.requestCount -= 1 } }
            let network = network
            return .failure(
                note { [now = parts.clock.now] in $0.ended(error, network: network, now: now) }
            )
        } catch {
            log?.ended("cancelled")
            guard !Task.isCancelled else { return .failure(nil) }
            // The request was cancelled elsewhere, but reads still wait.
            let error = MediaError(.cut, url.safeText, "the connection was given up before it answered")
            return .failure(note { [now = parts.clock.now] in $0.ended(error, now: now) })
        }
    }

    /// Continues with the body of `response` if the state accepts it.
    private func taken(_ response: RangeResponse, _ log: RequestLog?) -> Attempt {
        let answer = response.answer
        let (isClosed, refusal) = guarded.withLock { guarded -> (Bool, LiveState.Refusal?) in
            guarded.requestCount += answer.requestCount - 1
            guard !guarded.isClosed else { return (true, nil) }
            let refusal = guarded.state?.connected(answer)
            if refusal == nil { guarded.body = response.body }
            return (false, refusal)
        }
        guard isClosed || refusal != nil else {
            return .success(Connection(body: response.body, log: log))
        }
        response.body.cancel()
        guard let refusal, !isClosed else {
            log?.ended("cancelled")
            return .failure(nil)
        }
        log?.ended(refusal.journalText)
        let retryAfter = answer.retryAfter
        return .failure(
            note { [now = parts.clock.now] in $0.refused(refusal, retryAfter: retryAfter, now: now) }
        )
    }

    /// Passes the end of a connection, or a failed attempt, to the state. Resumes the reads if no attempt
    /// follows.
    private func note(_ event: @Sendable (inout LiveState) -> LoadWait?) -> LoadWait? {
        let (wait, hasEnded, readers) = guarded.withLock {
            guarded -> (LoadWait?, Bool, [CheckedContinuation<Void, any Error>]) in
            guard var state = guarded.state else { return (nil, false, []) }
            let wait = event(&state)
            guarded.state = state
            return (wait, state.length != nil, wait == nil ? guarded.takeReaders() : [])
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

extension LiveState.Refusal {
    /// The journal's text for the end of the request.
    fileprivate var journalText: String {
        switch self {
        case .status: MediaError.Code.httpStatus.rawValue
        case .now(let error), .forGood(let error): error.code.rawValue
        }
    }
}
