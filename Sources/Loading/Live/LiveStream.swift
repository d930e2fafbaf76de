import Media

/// A live stream on its way from an answer to the decoder, through a bounded buffer.
///
/// A thin shell: `LiveState` decides. One task pulls the body, and connects again when it ends: a live stream has
/// no end of its own. Nothing of it is kept.
final class LiveStream: Sendable {
    private struct Guarded {
        var state: LiveState?
        /// Reads that wait for bytes.
        var readers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextReader = 1
        /// The pump, while it waits for room.
        var pump: CheckedContinuation<Void, Never>?
        var body: (any ResponseBody)?
        var task: Task<Void, Never>?
        var isClosed = false
        var fetchedBytes: Int64 = 0
        var requestCount = 0

        mutating func takeReaders() -> [CheckedContinuation<Void, any Error>] {
            defer { readers = [:] }
            return Array(readers.values)
        }
    }

    private let url: WebURL
    private let transport: any RangeTransport
    private let clock: any MonotonicClock
    private let settings: LoadSettings
    private let journal: (any RequestJournal)?
    private let numbers: RequestNumbers
    // Guards everything that changes. Nothing foreign is called, and nothing is resumed, while it is held.
    private let guarded = Locked(Guarded())

    init(
        url: WebURL,
        transport: any RangeTransport,
        clock: any MonotonicClock,
        settings: LoadSettings,
        journal: (any RequestJournal)?,
        numbers: RequestNumbers
    ) {
        self.url = url
        self.transport = transport
        self.clock = clock
        self.settings = settings
        self.journal = journal
        self.numbers = numbers
    }

    /// Takes over the body of `response`, whose next byte is at `offset` of the resource. Called once.
    func begin(_ response: RangeResponse, at offset: Int64) {
        let state = LiveState(
            subject: url.safeText,
            offset: offset,
            station: response.answer.station ?? Station(),
            retry: RetryState(seed: .random(in: 0 ... .max))
        )
        let isClosed = guarded.withLock { guarded in
            precondition(guarded.state == nil, "a stream is begun once")
            guard !guarded.isClosed else { return true }
            guarded.state = state
            guarded.body = response.body
            // Started under the lock, so that a close that follows finds the task.
            guarded.task = Task { await self.pump(response.body) }
            return false
        }
        if isClosed { response.body.cancel() }
    }

    /// Up to `count` bytes from `offset` on, at least one: waits for them.
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
        report.length = nil
        report.isSeekable = false
        report.isKept = false
        report.live = state.report
        report.wait = state.wait
        report.inFlight = []
        report.stored.insert(contentsOf: state.buffered)
        report.fetchedBytes += fetched
        report.requestCount += requests
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

    // MARK: The transfer

    /// Pulls `first`, then one connection after the other, until the stream is closed or given up.
    private func pump(_ first: any ResponseBody) async {
        var body: (any ResponseBody)? = first
        while !Task.isCancelled {
            guard let open = body else { return }
            let error = await drain(open)
            open.cancel()
            body = nil
            guard !Task.isCancelled else { return }
            guard var wait = note({ [now = clock.now] in $0.ended(error, now: now) }) else { return }
            while body == nil {
                guard (try? await clock.sleep(until: wait.retryAt)) != nil else { return }
                switch await connect() {
                case .success(let fresh): body = fresh
                case .failure(let next):
                    guard let next else { return }
                    wait = next
                }
            }
        }
    }

    /// Hands on what `body` brings, until it ends; returns what ended it.
    private func drain(_ body: any ResponseBody) async -> MediaError? {
        do {
            while let bytes = try await body.next() {
                let title = body.takeTitle()
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
            return error as? MediaError
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

    /// What an attempt to connect again came to: a body, or what to wait for; nil when there is nothing more.
    private enum Attempt {
        case success(any ResponseBody)
        case failure(LoadWait?)
    }

    private func connect() async -> Attempt {
        let number = numbers.next()
        var record = RequestRecord(number: number, why: .demand, asked: nil, startedAt: clock.now)
        guarded.withLock { $0.requestCount += 1 }
        do {
            let request = RangeRequest(url: url, range: nil, wantsTitles: true)
            let response = try await transport.send(request)
            let answer = response.answer
            record.status = answer.wire.status
            record.wire = answer.wire
            record.firstByte = clock.now - record.startedAt
            guarded.withLock { $0.requestCount += answer.requestCount - 1 }
            if answer.contentType == "text/html" {
                // Networks that want a login answer so to everything.
                response.body.cancel()
                let cause: SafeText = "a web page comes in place of the stream; sign in to the network"
                let error = MediaError(.badAnswer, url.safeText, cause)
                tell(record, end: error.code.rawValue)
                return .failure(note { [now = clock.now] in $0.ended(error, now: now) })
            }
            guard case .whole = answer.kind else {
                response.body.cancel()
                tell(record, end: "http-status")
                let status = if case .refused(let status) = answer.kind { status } else { answer.wire.status }
                return .failure(
                    note { [now = clock.now] in
                        $0.refused(status: status, retryAfter: answer.retryAfter, now: now)
                    }
                )
            }
            let isClosed = guarded.withLock { guarded in
                guard !guarded.isClosed else { return true }
                guarded.body = response.body
                guarded.state?.connected(answer.station)
                return false
            }
            tell(record, end: "live")
            guard isClosed else { return .success(response.body) }
            response.body.cancel()
            return .failure(nil)
        } catch let error as MediaError {
            // Offline none is sent.
            if error.code == .offline {
                guarded.withLock { $0.requestCount -= 1 }
            } else {
                tell(record, end: error.code.rawValue)
            }
            return .failure(note { [now = clock.now] in $0.ended(error, now: now) })
        } catch {
            tell(record, end: "cancelled")
            guard !Task.isCancelled else { return .failure(nil) }
            // Nobody here cancelled it: whatever ended it, the reads still wait.
            let error = MediaError(.cut, url.safeText, "the connection was given up before it answered")
            return .failure(note { [now = clock.now] in $0.ended(error, now: now) })
        }
    }

    /// Lets the state take a failure; wakes the reads when it was the last.
    private func note(_ event: @Sendable (inout LiveState) -> LoadWait?) -> LoadWait? {
        let (wait, readers) = guarded.withLock {
            guarded -> (LoadWait?, [CheckedContinuation<Void, any Error>]) in
            guard var state = guarded.state else { return (nil, []) }
            let wait = event(&state)
            guarded.state = state
            return (wait, wait == nil ? guarded.takeReaders() : [])
        }
        for reader in readers { reader.resume() }
        if let wait { decide(.retryLater, wait.error) } else { decide(.gaveUp, nil) }
        return wait
    }

    private func decide(_ decision: JournalRecord.Decision, _ error: MediaError?) {
        let record = JournalRecord(
            time: clock.now,
            resource: url.safeText,
            event: .decision(decision, error?.safeText ?? "the live stream does not come back")
        )
        journal?.record(record)
    }

    private func tell(_ record: RequestRecord, end: String) {
        var record = record
        record.end = end
        record.duration = clock.now - record.startedAt
        journal?.record(JournalRecord(time: clock.now, resource: url.safeText, event: .request(record)))
    }
}
