import Media

/// What is there of a live stream: a bounded stretch of its bytes, its titles, and why nothing comes. Pure.
///
/// Offsets count from the start of the listening and go on over a reconnect, as if nothing had been missed.
/// A body that no station vouches for is only taken for a stream because it goes on and on: one that comes to
/// its end in good order was a long file, and that is its end. Bytes that were read go when the room is needed. Bytes that nobody reads hold the transfer back: a paused
/// stream costs no traffic, and whoever comes back to it opens it anew to hear what is live.
struct LiveState: Sendable {
    /// Bytes held at the most, those that were read included: two minutes at 256 kbit/s.
    static let capacity = 4 << 20

    /// Unread bytes at which the transfer is held back. The other half is for what was read: a decoder
    /// that looks for the first frame goes back over it.
    static let mostUnread = 2 << 20

    /// How long it is not asked again whether the network is back, where nobody says when it is tried.
    static let shortestAbsence = Duration.seconds(1)

    /// Titles that are remembered.
    static let mostTitles = 32

    /// What a read finds.
    enum Outlook: Sendable, Equatable {
        case bytes([UInt8])
        /// Nothing comes behind the last byte.
        case end
        /// They have not come yet.
        case missing
        case failed(MediaError)
    }

    private let subject: SafeText
    /// The answer's chunks; a title only ever stands before a chunk, so a read of one never crosses one.
    private var chunks: [[UInt8]] = []
    /// Chunks at the front of `chunks` that are gone; they are removed in batches.
    private var goneCount = 0
    /// The offset of the first byte that is there.
    private(set) var start: Int64
    /// The offset behind the last one.
    private(set) var end: Int64
    private(set) var readTo: Int64
    private(set) var station: Station
    private var titles: [StreamTitle] = []
    private var retry: RetryState
    private(set) var wait: LoadWait?
    /// Why nothing will come any more.
    private var verdict: MediaError?
    /// A station answered, of which only the breaks come to an end.
    private let isStation: Bool
    /// The body was a file, which is here to its end.
    private var hasEnded = false

    /// `offset` is that of the first byte to come; `station` is nil where none answered; `retry` decides when to
    /// connect again.
    init(subject: SafeText, offset: Int64, station: Station?, retry: RetryState) {
        self.subject = subject
        start = offset
        end = offset
        readTo = offset
        isStation = station != nil
        self.station = station ?? Station()
        self.retry = retry
    }

    /// Whether the transfer may bring more.
    var hasRoom: Bool { end - readTo < Int64(Self.mostUnread) }

    /// Whether the stream was given up or has ended; nothing is fetched any more.
    var isOver: Bool { verdict != nil || hasEnded }

    /// How long it was, once it has ended.
    var length: Int64? { hasEnded ? end : nil }

    var report: LiveReport { LiveReport(station: station, titles: titles, readTo: readTo) }

    /// What can be read.
    var buffered: ByteRange { start..<end }

    // MARK: Reading

    /// Looks for up to `count` bytes from `offset` on; what is handed out counts as read.
    mutating func read(at offset: Int64, count: Int) -> Outlook {
        guard offset >= start else {
            return .failed(MediaError(.cut, subject, "a live stream does not go back; reload it"))
        }
        guard offset < end else {
            // Who skips beyond all that is here does not want it: the transfer must not wait for that.
            readTo = max(readTo, end)
            return hasEnded ? .end : verdict.map { .failed($0) } ?? .missing
        }
        var chunkStart = start
        for chunk in chunks[goneCount...] {
            let chunkEnd = chunkStart + Int64(chunk.count)
            if offset < chunkEnd {
                let bytes = Array(chunk[Int(offset - chunkStart)...].prefix(count))
                readTo = max(readTo, offset + Int64(bytes.count))
                return .bytes(bytes)
            }
            chunkStart = chunkEnd
        }
        preconditionFailure("the chunks reach from the start to the end")
    }

    // MARK: The transfer

    /// A connection has answered. Returns why its body is not to be heard; nil when it goes on with the stream.
    mutating func connected(_ answer: RangeAnswer) -> Refusal? {
        // Networks that want a login answer with a page to everything.
        guard answer.contentType != "text/html" else {
            let cause: SafeText = "a web page comes in place of the stream; sign in to the network"
            return .now(MediaError(.badAnswer, subject, cause))
        }
        switch answer.kind {
        case .whole(length: nil):
            // Something with an identity is a file, and begins again from its first byte.
            guard isStation || answer.station != nil || answer.validators.isEmpty else {
                let cause: SafeText = "the connection was lost, and the server has no ranges; play it again"
                return .forGood(MediaError(.cut, subject, cause))
            }
            // One that only forgot to say it again is still the same.
            if let station = answer.station { self.station = station }
            return nil
        case .whole:
            return .now(MediaError(.cut, subject, "a file comes in place of the stream"))
        case .part, .unsatisfiable, .notModified: return .status(answer.wire.status)
        case .refused(let status): return .status(status)
        }
    }

    /// Why an answer does not go on with the stream.
    enum Refusal: Equatable {
        case status(Int)
        /// Something else comes for now.
        case now(MediaError)
        /// It never will.
        case forGood(MediaError)
    }

    /// The network is there again: the attempts count anew.
    mutating func networkReturned() {
        guard !isOver else { return }
        retry.progressed()
    }

    /// `bytes` came, behind `title` where there is a new one.
    mutating func received(_ bytes: [UInt8], title: SafeText?) {
        wait = nil
        retry.progressed()
        if let title, title != titles.last?.text {
            titles.append(StreamTitle(offset: end, text: title))
            if titles.count > Self.mostTitles { titles.removeFirst() }
        }
        chunks.append(bytes)
        end += Int64(bytes.count)
        dropOldest()
    }

    /// The connection ended, or could not be made; nil is an end in good order, which a station has none of.
    /// `network` is what is known of it.
    ///
    /// Returns what to wait for before the next attempt; nil when there is none.
    mutating func ended(
        _ error: MediaError?,
        network: ConnectivityReport = ConnectivityReport(),
        now: Duration
    ) -> LoadWait? {
        guard error != nil || isStation else {
            hasEnded = true
            wait = nil
            return nil
        }
        let error = error ?? MediaError(.cut, subject, "the stream has ended")
        let isAway = error.code == .offline || (network.isOffline && RetryPolicy.isWorthWaiting(for: error))
        if isAway, !network.isForced {
            // Nothing was sent, or the one request that tries the network met what all others would: nothing was
            // learned of the station, so it is waited for as long as the network is away.
            let reason = network.reason.map { MediaError($0.code, subject, $0.cause) } ?? error
            wait = retry.postponed(reason, until: max(network.retryAt ?? now, now + Self.shortestAbsence))
            return wait
        }
        wait = RetryPolicy.isWorthWaiting(for: error) ? retry.failed(error, retryAfter: nil, now: now) : nil
        if wait == nil { verdict = retry.surrender ?? error }
        return wait
    }

    /// The answer to an attempt brought nothing, for `refusal`.
    mutating func refused(_ refusal: Refusal, retryAfter: Duration?, now: Duration) -> LoadWait? {
        let (error, isWorthWaiting) =
            switch refusal {
            case .now(let error): (error, true)
            case .forGood(let error): (error, false)
            case .status(let status):
                (
                    MediaError(.httpStatus, subject, SafeText("the server answers \(status)")),
                    RetryPolicy.isWorthWaiting(forStatus: status)
                )
            }
        wait = isWorthWaiting ? retry.failed(error, retryAfter: retryAfter, now: now) : nil
        if wait == nil { verdict = retry.surrender ?? error }
        return wait
    }

    private mutating func dropOldest() {
        while end - start > Int64(Self.capacity), goneCount < chunks.count,
            start + Int64(chunks[goneCount].count) <= readTo
        {
            start += Int64(chunks[goneCount].count)
            chunks[goneCount] = []
            goneCount += 1
        }
        // One move of all for many that go.
        guard goneCount > 64, goneCount > chunks.count / 2 else { return }
        chunks.removeFirst(goneCount)
        goneCount = 0
    }
}
