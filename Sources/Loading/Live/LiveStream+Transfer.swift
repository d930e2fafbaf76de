import Media
import System

// The connections of a live stream, one after the other.
extension LiveStream {
    /// One connection, and its line in the journal, which is told when its body has ended.
    struct Connection {
        let body: any ResponseBody
        var log: RequestLog
    }

    /// Pulls `first`, then one connection after the other, until the stream has ended, or is closed or given up.
    func pump(_ first: Connection) async {
        var connection: Connection? = first
        while var open = connection {
            connection = nil
            let error = await drain(&open)
            open.body.cancel()
            guard !Task.isCancelled else { return tell(open.log, end: "cancelled") }
            tell(open.log, end: error?.code.rawValue ?? "complete")
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

    /// What is known of the network now.
    private var network: ConnectivityReport { parts.connectivity?.report ?? ConnectivityReport() }

    /// Hands on what the body brings, until it ends; returns what ended it.
    private func drain(_ connection: inout Connection) async -> MediaError? {
        do {
            while let bytes = try await connection.body.next() {
                let title = connection.body.takeTitle()
                connection.log.received(bytes.count)
                parts.tellProgress(of: connection.log)
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
            // Nobody here cancelled it, or nobody asks any more: whatever ended it, it was no end.
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

    /// Sleeps until `time`, or until the network is back; false when the stream was closed meanwhile.
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

    /// What an attempt to connect again came to: a body, or what to wait for; nil when there is nothing more.
    private enum Attempt {
        case success(Connection)
        case failure(LoadWait?)
    }

    private func connect() async -> Attempt {
        let request = RangeRequest(url: url, range: nil, wantsTitles: true)
        var log = RequestLog(request, why: .demand, number: parts.numbers.next(), at: parts.clock.now)
        guarded.withLock { $0.requestCount += 1 }
        parts.tellProgress(of: log)
        do {
            let response = try await parts.transport.send(request)
            log.answered(response.answer, at: parts.clock.now)
            parts.tellProgress(of: log)
            return taken(response, log)
        } catch let error as MediaError {
            // Offline none is sent.
            if error.code == .offline {
                guarded.withLock { $0.requestCount -= 1 }
                parts.withdraw(log)
            } else {
                tell(log, end: error.code.rawValue)
            }
            let network = network
            return .failure(
                note { [now = parts.clock.now] in $0.ended(error, network: network, now: now) }
            )
        } catch {
            tell(log, end: "cancelled")
            guard !Task.isCancelled else { return .failure(nil) }
            // Nobody here cancelled it: whatever ended it, the reads still wait.
            let error = MediaError(.cut, url.safeText, "the connection was given up before it answered")
            return .failure(note { [now = parts.clock.now] in $0.ended(error, now: now) })
        }
    }

    /// Goes on with the body of `response`, where the state takes it for the stream.
    private func taken(_ response: RangeResponse, _ log: RequestLog) -> Attempt {
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
            tell(log, end: "cancelled")
            return .failure(nil)
        }
        tell(log, end: refusal.journalText)
        let retryAfter = answer.retryAfter
        return .failure(
            note { [now = parts.clock.now] in $0.refused(refusal, retryAfter: retryAfter, now: now) }
        )
    }

    /// Lets the state take an end; wakes the reads when it was the last.
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
            decide(.retryLater, wait.error.safeText)
        } else if !hasEnded {
            decide(.gaveUp, "the live stream does not come back")
        }
        return wait
    }

    private func decide(_ decision: JournalRecord.Decision, _ text: SafeText) {
        parts.journal?.record(
            JournalRecord(time: parts.clock.now, resource: url.safeText, event: .decision(decision, text))
        )
    }

    func tell(_ log: RequestLog, end: String) {
        var log = log
        parts.journal?.record(log.ended(end, at: parts.clock.now))
    }
}

extension LiveState.Refusal {
    /// What the journal says of the request's end.
    fileprivate var journalText: String {
        switch self {
        case .status: MediaError.Code.httpStatus.rawValue
        case .now(let error), .forGood(let error): error.code.rawValue
        }
    }
}
