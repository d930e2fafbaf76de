internal import Media

/// One transfer, from its start to its end: what came, what is owed, and until when.
///
/// Events come from the curl thread (head, bytes, end), the reader (take, cancel) and the clock.
/// Whatever comes after the end is late and changes nothing.
struct TransferState {
    /// What the write callback has to tell libcurl.
    enum Intake: Equatable {
        case taken
        /// Not taken: libcurl keeps the bytes and offers them again after it was resumed.
        case pause
        /// The transfer is over; libcurl shall end it.
        case refused
    }

    /// What a reader gets.
    enum Delivery {
        case head(ResponseHead)
        /// Never empty. `resumes` says that libcurl is to be resumed.
        case chunk([UInt8], resumes: Bool)
        case end
        case failure(any Error)
        case wait
    }

    /// What a reader waits for.
    enum Need {
        case head
        case chunk
    }

    enum TimeCheck: Equatable {
        case look(at: Duration)
        case expired(MediaError)
        case over
    }

    private enum Phase {
        case connecting
        case waitingForHead
        case inBody
        case ended
        case failed(MediaError)
        case cancelled
    }

    /// Buffered bytes at which an HTTP/1.1 sender is slowed down: what a fast line brings while the
    /// reader is busy with one chunk, and little enough for many transfers.
    static let buffered = 256 * 1024
    /// The same for HTTP/2. libcurl would go on receiving tens of megabytes for a paused stream anyway
    /// and hold up the streams beside it, so only a body that nobody bounded comes this far.
    static let bufferedMultiplexed = 16 * 1024 * 1024

    private var phase = Phase.connecting
    private var head: ResponseHead?
    private var buffer = ChunkBuffer()
    /// Whether the write callback has refused bytes that are to be offered again.
    private(set) var isPaused = false
    /// Body bytes still promised; nil without a promise.
    private var owed: Int64?
    /// When to give up; not looked at while paused.
    private var deadline: Duration
    private let timeouts: Timeouts
    private let subject: SafeText

    init(subject: SafeText, timeouts: Timeouts, now: Duration) {
        self.subject = subject
        self.timeouts = timeouts
        deadline = now + timeouts.connect
    }

    /// Whether libcurl has nothing more to do for it.
    var isOver: Bool {
        switch phase {
        case .connecting, .waitingForHead, .inBody: false
        case .ended, .failed, .cancelled: true
        }
    }

    /// A connection stands. Comes again when libcurl has to take another one.
    mutating func connected(at now: Duration) {
        switch phase {
        case .connecting, .waitingForHead:
            phase = .waitingForHead
            deadline = now + timeouts.firstByte
        case .inBody, .ended, .failed, .cancelled: break
        }
    }

    /// The head of the final answer, whose body shall be `owed` bytes long.
    mutating func headReceived(_ head: ResponseHead, owed: Int64?, at now: Duration) {
        switch phase {
        case .connecting, .waitingForHead:
            self.head = head
            self.owed = owed
            phase = .inBody
            deadline = now + timeouts.idle
        case .inBody, .ended, .failed, .cancelled: break
        }
    }

    /// Body bytes came.
    mutating func received(_ bytes: UnsafeRawBufferPointer, at now: Duration) -> Intake {
        guard case .inBody = phase, let head else { return .refused }
        var bytes = bytes
        var isSurplus = false
        if let owed, Int64(bytes.count) > owed {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(owed)))
            isSurplus = true
        }
        let limit = head.isMultiplexed ? Self.bufferedMultiplexed : Self.buffered
        // A single piece is always taken, so that no piece can be too large to ever pass.
        if buffer.byteCount > 0, buffer.byteCount + bytes.count > limit {
            isPaused = true
            return .pause
        }
        buffer.append(bytes)
        deadline = now + timeouts.idle
        if let owed { self.owed = owed - Int64(bytes.count) }
        guard isSurplus else { return .taken }
        // The body says more than was promised. What was promised is whole; the rest is nobody's.
        phase = .ended
        return .refused
    }

    /// libcurl is done with it; `failure` is nil when the body came to the end of its framing.
    mutating func finished(failure: MediaError?) {
        switch phase {
        case .connecting, .waitingForHead:
            phase = .failed(failure ?? cut("the server closed the connection without an answer"))
        case .inBody:
            if owed == 0 {
                phase = .ended
            } else if let failure {
                phase = .failed(failure)
            } else if owed != nil {
                phase = .failed(cut("the server sent fewer bytes than it said"))
            } else {
                phase = .ended
            }
        case .ended, .failed, .cancelled: break
        }
    }

    /// It cannot go on, whatever libcurl says. Bytes that came before can still be taken.
    mutating func failed(_ error: MediaError) {
        if !isOver { phase = .failed(error) }
    }

    /// Nobody wants more of it; what came can still be taken. Returns whether libcurl must be told.
    mutating func cancelled() -> Bool {
        let wasLive = !isOver
        phase = .cancelled
        return wasLive
    }

    /// The reader is gone, so nobody can take what came. Returns whether libcurl must be told.
    ///
    /// libcurl lets go of a transfer a moment later than its reader; the bytes need not wait for that.
    mutating func released() -> Bool {
        buffer.removeAll()
        return cancelled()
    }

    /// Looks at the clock.
    mutating func timePassed(now: Duration) -> TimeCheck {
        let error: MediaError
        switch phase {
        case .ended, .failed, .cancelled: return .over
        case .connecting:
            // No time-out to the listener, and not to who judges the network: nobody was there to be slow.
            let cause: SafeText = "the server cannot be reached in time; check the network"
            error = MediaError(.connectionFailed, subject, cause)
        case .waitingForHead: error = late("the server accepted the connection but does not answer")
        case .inBody: error = late("the server stopped sending")
        }
        // Only the reader's own slowness holds a paused transfer up.
        guard !isPaused, now >= deadline else {
            let next = now + timeouts.shortest
            return .look(at: isPaused ? next : min(deadline, next))
        }
        phase = .failed(error)
        return .expired(error)
    }

    /// Whether `takeHead` or `takeChunk` would answer anything but `wait`.
    func hasAnswer(to need: Need) -> Bool {
        switch need {
        case .head: head != nil || isOver
        case .chunk: buffer.byteCount > 0 || isOver || owed == 0
        }
    }

    /// The head, before the body.
    func takeHead() -> Delivery {
        switch phase {
        case .cancelled: return .failure(CancellationError())
        case .failed(let error) where head == nil: return .failure(error)
        case .connecting, .waitingForHead, .inBody, .ended, .failed: break
        }
        return head.map(Delivery.head) ?? .wait
    }

    /// The next piece of the body. What came is handed out before the failure or cancel that ended it,
    /// because bytes that were paid for are kept.
    mutating func takeChunk(now: Duration) -> Delivery {
        if let chunk = buffer.takeFirst() {
            let resumes = isPaused && !isOver && buffer.byteCount <= Self.buffered / 2
            if resumes {
                isPaused = false
                deadline = now + timeouts.idle
            }
            return .chunk(chunk, resumes: resumes)
        }
        switch phase {
        case .failed(let error): return .failure(error)
        case .ended: return .end
        case .cancelled: return .failure(CancellationError())
        case .connecting, .waitingForHead, .inBody: return owed == 0 ? .end : .wait
        }
    }

    private func cut(_ cause: SafeText) -> MediaError { MediaError(.cut, subject, cause) }

    private func late(_ cause: SafeText) -> MediaError { MediaError(.timedOut, subject, cause) }
}
