import Media

/// The connection to the resource's server, and its measurements.
struct LoadLine: Sendable {
    private let settings: LoadSettings
    private(set) var measure: LineMeasure
    /// `true` if a connection to this server is known to carry one request at a time.
    private var takesOneAtATime = false
    /// `true` once a window arrived completely: if nothing was measured by then, the connection is too fast
    /// to measure.
    private var hasWholeWindow = false
    /// The number of windows of `.readAhead` and `.fill` that arrived completely.
    private var wholeWindows = 0
    /// The time when two connections were last used in parallel.
    private var pairedAt: Duration?

    init(settings: LoadSettings, measure: LineMeasure) {
        self.settings = settings
        self.measure = measure
    }

    // MARK: Events

    mutating func received(_ piece: BodyWatch.Piece) { measure.received(piece.bytes, in: piece.time) }

    mutating func answered(_ answer: RangeAnswer, to fetch: LoadFetch, now: Duration) {
        let wire = answer.wire
        // The time of a request that was redirected is that of several.
        if answer.requestCount == 1, let sentAt = fetch.sentAt {
            measure.answered(after: now - sentAt, onNewConnection: wire.reusedConnection == false)
        }
        takesOneAtATime = wire.takesOneAtATime
        // A new connection shows that the one in use could not carry the request.
        let hasNewConnection = !fetch.beganAlone && wire.reusedConnection == false
        if fetch.neededConnection || hasNewConnection { pairedAt = now }
    }

    /// The server lets one connection wait for the end of another.
    mutating func foundOneConnection() { measure.servesOneConnection = true }

    mutating func windowCompleted(_ urgency: Urgency) {
        hasWholeWindow = true
        if urgency == .readAhead || urgency == .fill { wholeWindows += 1 }
    }

    /// A request was cancelled; with HTTP/1 its connection closes.
    mutating func cancelled() { pairedAt = nil }

    // MARK: Questions

    /// `true` if `fetch`, overtaken by another request, waits too long for its response. Then the server
    /// serves one connection at a time, and not this one.
    func isStarving(_ fetch: LoadFetch, now: Duration) -> Bool {
        guard takesOneAtATime, fetch.phase == .requested, let time = fetch.overtakenAt else { return false }
        return now - time >= longestStarving
    }

    /// How long an overtaken request may wait. A new connection, with encryption, takes four times as long as
    /// a request.
    var longestStarving: Duration { max(settings.longestStarving, (measure.firstByteTime ?? .zero) * 4) }

    /// The bytes that arrive in the time of a new request: a smaller gap is downloaded rather than skipped.
    var readThrough: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.readThrough }
        let bounds = settings.measuredReadThrough
        return min(bounds.upperBound, max(bounds.lowerBound, measured))
    }

    /// The next window is requested when fewer bytes than this are left of the current one: as many as arrive
    /// before the response to the next request.
    var askNextAt: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.askNextAt }
        return min(settings.largestWindow / 2, max(settings.measuredReadThrough.lowerBound, measured))
    }

    /// If an unwanted window has at most this much left, it is not cancelled, which keeps its connection
    /// open. The rest must arrive before the response to the next request can.
    var mostLingering: Int64 {
        let isKnown = measure.bytesPerRequest != nil || hasWholeWindow
        return min(settings.readThrough, isKnown ? readThrough : settings.askNextAt)
    }

    /// The length of one request. `bytesPerSecond` is the rate of the music; 0 if unknown.
    func window(for urgency: Urgency, playing bytesPerSecond: Double) -> Int64 {
        switch urgency {
        // At least half a second of music, for which only lossless formats need more than `demandWindow`. Up
        // to half of the window may be cut off, so that it ends at a block boundary; that leaves the quarter
        // of a second that the first sound after a seek needs.
        case .demand:
            max(
                settings.demandWindow,
                min(settings.largestWindow, Int64(min(rate(bytesPerSecond) / 2, 1e12)))
            )
        case .readAhead: readAheadWindow
        case .fill: growingWindow(seconds: 4, least: settings.firstWindow)
        case .prefetch, .revalidate, .tags: spareWindow
        }
    }

    /// The rate of the music; while it is unknown, the one that its name suggests.
    private func rate(_ bytesPerSecond: Double) -> Double {
        bytesPerSecond > 0 ? bytesPerSecond : settings.likelyBytesPerSecond
    }

    /// About two seconds at the measured rate.
    var readAheadWindow: Int64 { growingWindow(seconds: 2, least: settings.demandWindow) }

    /// The bytes that arrive in `seconds`, but at least `least`. If windows arrive too fast to be measured,
    /// each is twice as long as the previous one.
    private func growingWindow(seconds: Double, least: Int64) -> Int64 {
        guard let rate = measure.bytesPerSecond else {
            // Ten doublings exceed the largest window by far, and cannot overflow.
            return min(settings.largestWindow, settings.firstWindow << min(wholeWindows, 10))
        }
        return min(settings.largestWindow, max(least, Int64(min(rate * seconds, 1e12))))
    }

    /// Half a second at the measured rate: a more urgent request has to share the connection for that long at
    /// most.
    private var spareWindow: Int64 {
        guard let rate = measure.bytesPerSecond else { return settings.demandWindow }
        return min(settings.largestSpareWindow, max(settings.demandWindow, Int64(min(rate / 2, 1e12))))
    }

    /// `true` if a second connection should be opened, or used before it is closed as idle, so that a seek
    /// finds one free and warm. `bytesPerSecond` is the rate of the music.
    func lacksSecondConnection(playing bytesPerSecond: Double, now: Duration) -> Bool {
        guard takesOneAtATime, !measure.servesOneConnection,
            pairedAt.map({ now - $0 >= settings.longestAlone }) ?? true
        else { return false }
        guard let rate = measure.bytesPerSecond else { return hasWholeWindow }
        return rate >= settings.spareRate * bytesPerSecond
    }
}
