import Media

/// The state of a live stream: a bounded part of its bytes, its titles, and the reason for a wait. Pure.
///
/// Offsets count from the first byte received and continue after a reconnect as if nothing had been missed. A
/// body without a station's header fields is taken for a stream only because it does not end; if it does end
/// regularly, it was a long file. Bytes that were read are dropped when their space is needed. Unread bytes
/// pause the transfer, so a paused stream causes no traffic; resuming reconnects to the live position.
struct LiveState: Sendable {
    /// The most bytes held, including those that were read: two minutes at 256 kbit/s.
    static let capacity = 4 << 20

    /// The number of unread bytes at which the transfer is paused. The other half is for bytes that were
    /// read: a decoder that looks for the first frame reads them again.
    static let mostUnread = 2 << 20

    static let mostTitles = 32

    enum Outlook: Sendable, Equatable {
        case bytes([UInt8])
        /// The offset is at or past the end.
        case end
        /// The bytes have not arrived yet.
        case missing
        case failed(MediaError)
    }

    private let subject: SafeText
    /// The chunks of the response. A title is always before a chunk, never within one, so a read of one chunk
    /// does not cross a title.
    private var chunks: [[UInt8]] = []
    /// How many chunks at the start of `chunks` were dropped; they are removed in batches.
    private var goneCount = 0
    /// The offset of the first byte held.
    private(set) var start: Int64
    /// The offset after the last one.
    private(set) var end: Int64
    private(set) var readTo: Int64
    private(set) var station: Station
    private var titles: [StreamTitle] = []
    private var reconnections = 0
    /// `true` from the end of a connection until bytes arrive again.
    private var isBroken = false
    private var retry: RetryState
    /// Set once the stream was given up.
    private var finalError: MediaError?
    /// `true` if the response is from a station: its connections may break, but it has no end.
    private let isStation: Bool
    /// `true` if the first response, which was played, was labelled `text/html` too.
    private let isLabelledPage: Bool
    /// `true` if the body turned out to be a file, which has ended.
    private var hasEnded = false

    /// `offset` is the offset of the first byte to be received, of the body of `answer`. `retry` decides when
    /// to reconnect.
    init(subject: SafeText, offset: Int64, answer: RangeAnswer, retry: RetryState) {
        self.subject = subject
        start = offset
        end = offset
        readTo = offset
        isStation = answer.station != nil
        isLabelledPage = answer.contentType == "text/html"
        station = answer.station ?? Station()
        self.retry = retry
    }

    /// `true` if there is room for more bytes of the transfer.
    var hasRoom: Bool { end - readTo < Int64(Self.mostUnread) }

    /// `true` if the stream was given up or has ended, so that nothing more is fetched.
    var isOver: Bool { finalError != nil || hasEnded }

    /// The wait for the next attempt; `nil` while bytes arrive.
    var wait: LoadWait? { isOver ? nil : retry.wait }

    /// The length; `nil` until the body has ended.
    var length: Int64? { hasEnded ? end : nil }

    var report: LiveReport {
        LiveReport(station: station, titles: titles, reconnections: reconnections, readTo: readTo)
    }

    var buffered: ByteRange { start..<end }

    // MARK: Reading

    /// Returns up to `count` bytes from `offset` on, and marks them as read.
    mutating func read(at offset: Int64, count: Int) -> Outlook {
        guard offset >= start else {
            return .failed(MediaError(.cut, subject, "can't go back that far in a live stream; reload it"))
        }
        guard offset < end else {
            // A reader that skips beyond all buffered bytes does not want them, so they must not pause the
            // transfer.
            readTo = max(readTo, end)
            return hasEnded ? .end : finalError.map { .failed($0) } ?? .missing
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

    /// A connection got its response. Returns the reason to refuse its body, which is lasting if the stream
    /// cannot come back; `nil` if it continues the stream.
    mutating func connected(_ answer: RangeAnswer) -> MediaError? {
        // A refusal has a page too, which says less than its status.
        if case .refused(let status) = answer.kind { return refusal(status) }
        // Captive portals respond to everything with a page, but not with the fields of a station.
        let mayBePage = isLabelledPage && (answer.station != nil || !isStation)
        guard answer.contentType != "text/html" || mayBePage else {
            let cause: SafeText = "got a web page instead of the stream; sign in to the network"
            return MediaError(.badAnswer, subject, cause)
        }
        switch answer.kind {
        case .whole(length: nil):
            // A body with a validator is a file, which would start again from its first byte.
            guard isStation || answer.station != nil || answer.validators.isEmpty else {
                let cause: SafeText = "the connection was lost, and the server has no ranges; play it again"
                var error = MediaError(.cut, subject, cause)
                error.isLasting = true
                return error
            }
            // If the header fields are missing this time, it is still the same station.
            if let station = answer.station { self.station = station }
            return nil
        case .whole: return MediaError(.cut, subject, "got a file instead of the stream")
        case .part, .unsatisfiable, .notModified, .refused: return refusal(answer.wire.status)
        }
    }

    private func refusal(_ status: Int) -> MediaError {
        // Icecast has no such mount until the station's encoder is connected again.
        let isOffAir = status == 404
        let cause = isOffAir ? "off the air (404)" : SafeText("the server answers \(status)")
        var error = MediaError(.httpStatus, subject, cause)
        error.isLasting = !isOffAir && !RetryPolicy.isWorthWaiting(forStatus: status)
        return error
    }

    /// The network is back: the count of failed attempts starts again from zero.
    mutating func networkReturned() {
        guard !isOver else { return }
        retry.progressed()
    }

    /// `bytes` arrived, after `title` if that is set.
    mutating func received(_ bytes: [UInt8], title: SafeText?) {
        retry.progressed()
        if isBroken { reconnections += 1 }
        isBroken = false
        if let title, title != titles.last?.text {
            titles.append(StreamTitle(offset: end, text: title))
            if titles.count > Self.mostTitles { titles.removeFirst() }
        }
        chunks.append(bytes)
        end += Int64(bytes.count)
        dropOldest()
    }

    /// The connection ended with `error` or could not be made; or it ended regularly (`nil`), which for a
    /// station counts as an error.
    ///
    /// Returns the wait before the next attempt; `nil` if there is none.
    mutating func ended(
        _ error: MediaError?,
        retryAfter: Duration? = nil,
        network: ConnectivityReport = ConnectivityReport(),
        now: Duration
    ) -> LoadWait? {
        guard error != nil || isStation else {
            hasEnded = true
            return nil
        }
        isBroken = true
        let error = error ?? MediaError(.cut, subject, "the stream has ended")
        // A station that is away is given up in the end, unless the network is away for all hosts.
        let outcome = retry.failed(
            error,
            hasBytes: network.isOffline,
            retryAfter: retryAfter,
            network: network,
            now: now
        )
        switch outcome {
        case .wait(let wait): return wait
        case .failed(let error), .givenUp(let error): finalError = error
        case .unchanged: break
        }
        return nil
    }

    private mutating func dropOldest() {
        while end - start > Int64(Self.capacity), goneCount < chunks.count,
            start + Int64(chunks[goneCount].count) <= readTo
        {
            start += Int64(chunks[goneCount].count)
            chunks[goneCount] = []
            goneCount += 1
        }
        // Removes many dropped chunks at once, so that the rest is moved only once.
        guard goneCount > 64, goneCount > chunks.count / 2 else { return }
        chunks.removeFirst(goneCount)
        goneCount = 0
    }
}
