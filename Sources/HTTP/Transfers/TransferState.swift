internal import Media

/// One transfer from its start to its end: the bytes that have arrived, the number still to come, and the
/// deadline.
///
/// Events come from the thread `http` (head, bytes, end), the reader (take, cancel) and the clock. An event
/// after the end is late and changes nothing.
struct TransferState {
    /// The result of the write callback for libcurl.
    enum Intake: Equatable {
        case taken
        /// Not accepted: libcurl holds the bytes and delivers them again when the transfer is resumed.
        case pause
        /// The transfer is over, and libcurl must end it.
        case refused
    }

    /// The result for a reader that takes a piece of the body.
    enum Delivery {
        /// A piece of the body, never empty. If `resumes`, the caller must resume the paused transfer.
        case chunk([UInt8], resumes: Bool)
        case end
        case wait
    }

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
        /// The address of the host, or of a proxy, is not known yet.
        case lookingUp
        case connecting
        case waitingForHead
        case inBody
        case ended
        case failed(MediaError)
        case cancelled
    }

    /// Small pieces are merged up to this size, so that a reader gets few large ones.
    private static let largestChunk = 64 * 1024
    /// The number of buffered bytes at which an HTTP/1.1 transfer is paused: as much as a fast connection
    /// delivers while the reader handles one chunk, but not too much for many transfers at once.
    static let buffered = 256 * 1024
    /// The same for HTTP/2, where pausing is worse: libcurl receives tens of megabytes for a paused stream,
    /// while the other streams of the connection wait. Windows are smaller than this; only an unbounded body
    /// reaches the limit.
    static let bufferedMultiplexed = 16 * 1024 * 1024

    private var phase = Phase.lookingUp
    private var head: ResponseHead?
    /// Body bytes that have arrived and were not taken yet, in the pieces that the reader will receive.
    private var chunks: [[UInt8]] = []
    private var chunkBytes = 0
    /// `true` while libcurl holds bytes that it will deliver again.
    private(set) var isPaused = false
    /// The number of body bytes still to come; `nil` if the response states no length.
    private var owed: Int64?
    /// The time at which the transfer fails; ignored while paused.
    private var deadline: Duration
    private let timeouts: Timeouts
    private let request: WireRequest

    init(request: WireRequest, timeouts: Timeouts, now: Duration) {
        self.request = request
        self.timeouts = timeouts
        deadline = now + timeouts.connect
    }

    /// `true` if libcurl has nothing more to do for the transfer.
    var isOver: Bool {
        switch phase {
        case .lookingUp, .connecting, .waitingForHead, .inBody: false
        case .ended, .failed, .cancelled: true
        }
    }

    /// The host has an address, to which a connection is being made.
    mutating func lookedUp() { if case .lookingUp = phase { phase = .connecting } }

    /// A connection is established. This can happen again if libcurl has to use another one.
    mutating func connected(at now: Duration) {
        switch phase {
        case .lookingUp, .connecting, .waitingForHead:
            phase = .waitingForHead
            deadline = now + timeouts.firstByte
        case .inBody, .ended, .failed, .cancelled: break
        }
    }

    /// The head of the final response arrived; it announces `owed` bytes of body.
    mutating func headReceived(_ head: ResponseHead, owed: Int64?, at now: Duration) {
        switch phase {
        case .lookingUp, .connecting, .waitingForHead:
            self.head = head
            self.owed = owed
            phase = .inBody
            deadline = now + timeouts.idle
        case .inBody, .ended, .failed, .cancelled: break
        }
    }

    /// Body bytes arrived.
    mutating func received(_ bytes: UnsafeRawBufferPointer, at now: Duration) -> Intake {
        guard case .inBody = phase, let head else { return .refused }
        var bytes = bytes
        var isSurplus = false
        if let owed, Int64(bytes.count) > owed {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(owed)))
            isSurplus = true
        }
        let limit = head.isMultiplexed ? Self.bufferedMultiplexed : Self.buffered
        // An empty buffer accepts a piece of any size; otherwise one above the limit could never be
        // delivered.
        if chunkBytes > 0, chunkBytes + bytes.count > limit {
            isPaused = true
            return .pause
        }
        append(bytes)
        deadline = now + timeouts.idle
        if let owed { self.owed = owed - Int64(bytes.count) }
        guard isSurplus else { return .taken }
        // The server sends more than it announced. The announced bytes are complete, and the rest is dropped.
        phase = .ended
        return .refused
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        chunkBytes += bytes.count
        if let last = chunks.indices.last, chunks[last].count + bytes.count <= Self.largestChunk {
            chunks[last].append(contentsOf: bytes)
        } else {
            chunks.append(Array(bytes))
        }
    }

    /// libcurl has ended the transfer; `failure` is `nil` if the body reached the end of its framing.
    mutating func finished(failure: MediaError?) {
        switch phase {
        case .lookingUp, .connecting, .waitingForHead:
            phase = .failed(failure ?? cut("the server closed the connection without an answer"))
        case .inBody:
            if owed == 0 {
                phase = .ended
            } else if let failure {
                phase = .failed(failure)
            } else if owed != nil {
                phase = .failed(cut("the server sent fewer bytes than it announced"))
            } else {
                phase = .ended
            }
        case .ended, .failed, .cancelled: break
        }
    }

    /// The transfer fails, whatever libcurl reports. Bytes that have arrived can still be taken.
    mutating func failed(_ error: MediaError) { if !isOver { phase = .failed(error) } }

    /// The reader cancels the transfer; bytes that have arrived can still be taken. Returns `true` if libcurl
    /// must end the transfer.
    mutating func cancelled() -> Bool {
        let wasLive = !isOver
        phase = .cancelled
        return wasLive
    }

    /// The reader released the transfer, so the bytes that have arrived are freed. Returns `true` if libcurl
    /// must end the transfer.
    mutating func released() -> Bool {
        chunks = []
        chunkBytes = 0
        return cancelled()
    }

    /// Time has passed: fails the transfer if its deadline has passed.
    mutating func timePassed(now: Duration) -> TimeCheck {
        let error: MediaError
        switch phase {
        case .ended, .failed, .cancelled: return .over
        case .lookingUp: error = CurlFailure.noLookUp(request)
        case .connecting:
            // Not `.timedOut`, which means that a server was reached but is slow.
            let cause: SafeText = "can't reach the server in time; check the network"
            error = MediaError(.connectionFailed, request.subject, cause)
        case .waitingForHead: error = late("the server accepted the connection but does not answer")
        case .inBody: error = late("the server stopped sending")
        }
        // A paused transfer waits for its reader, not for the server.
        guard !isPaused, now >= deadline else {
            let next = now + timeouts.shortest
            return .look(at: isPaused ? next : min(deadline, next))
        }
        phase = .failed(error)
        return .expired(error)
    }

    /// `true` if `receivedHead` or `takeChunk` need not wait.
    func hasAnswer(to need: Need) -> Bool {
        switch need {
        case .head: head != nil || isOver
        case .chunk: chunkBytes > 0 || isOver || owed == 0
        }
    }

    /// The head of the response; `nil` if it has not arrived. Throws the failure or cancellation that ended
    /// the transfer before it.
    func receivedHead() throws -> ResponseHead? {
        switch phase {
        case .cancelled: throw CancellationError()
        case .failed(let error) where head == nil: throw error
        case .lookingUp, .connecting, .waitingForHead, .inBody, .ended, .failed: return head
        }
    }

    /// Takes the next piece of the body. Bytes that have arrived are delivered before the failure or
    /// cancellation that ended the transfer is thrown: they are downloaded already, so they are cached.
    mutating func takeChunk(now: Duration) throws -> Delivery {
        if !chunks.isEmpty {
            let chunk = chunks.removeFirst()
            chunkBytes -= chunk.count
            let resumes = isPaused && !isOver && chunkBytes <= Self.buffered / 2
            if resumes {
                isPaused = false
                deadline = now + timeouts.idle
            }
            return .chunk(chunk, resumes: resumes)
        }
        switch phase {
        case .failed(let error): throw error
        case .ended: return .end
        case .cancelled: throw CancellationError()
        case .lookingUp, .connecting, .waitingForHead, .inBody: return owed == 0 ? .end : .wait
        }
    }

    private func cut(_ cause: SafeText) -> MediaError { MediaError(.cut, request.subject, cause) }

    private func late(_ cause: SafeText) -> MediaError { MediaError(.timedOut, request.subject, cause) }
}
