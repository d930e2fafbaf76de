import Media

/// The line to the resource's server: what was measured of it, and what the readers of other resources need of it.
struct LoadLine: Sendable {
    private let settings: LoadSettings
    private(set) var measure: LineMeasure
    /// The most urgent need of other resources; what is less urgent does not begin here meanwhile.
    private(set) var othersNeed: FetchReason?
    private var othersRevision = 0
    /// `true` if a connection to this server is known to carry one request at a time.
    private var takesOneAtATime = false
    /// `true` once a window came whole: if nothing was measured by then, the line is too fast to be measured.
    private var hasWholeWindow = false
    /// Windows of read-ahead that came whole.
    private var wholeWindows = 0
    /// When two connections were used side by side last.
    private var pairedAt: Duration?

    init(settings: LoadSettings, measure: LineMeasure) {
        self.settings = settings
        self.measure = measure
    }

    // MARK: Events

    mutating func measured(_ update: (inout LineMeasure) -> Void) { update(&measure) }

    /// Returns `false` if a newer revision was told before.
    mutating func othersNeedChanged(_ need: FetchReason?, revision: Int) -> Bool {
        guard revision > othersRevision else { return false }
        othersRevision = revision
        othersNeed = need
        return true
    }

    mutating func answered(_ wire: WireFacts, to fetch: LoadFetch, now: Duration) {
        takesOneAtATime = wire.takesOneAtATime
        // A new connection shows that the one in use could not take the request.
        let isPair =
            switch fetch.company {
            case .alone: false
            case .besideAnswered: wire.reusedConnection == false
            case .besideUnanswered: true
            }
        if isPair { pairedAt = now }
    }

    mutating func windowCompleted(_ why: FetchReason) {
        hasWholeWindow = true
        if why == .readAhead { wholeWindows += 1 }
    }

    /// A request was cancelled; with HTTP/1 its connection closes.
    mutating func cancelled() { pairedAt = nil }

    // MARK: Questions

    /// The bytes that arrive in the time of a new request: a gap of less is read through.
    var readThrough: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.readThrough }
        let bounds = settings.measuredReadThrough
        return min(bounds.upperBound, max(bounds.lowerBound, measured))
    }

    /// The next window is requested when the current one has less left than this: what arrives before its answer.
    var askNextAt: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.askNextAt }
        return min(settings.largestWindow / 2, max(settings.measuredReadThrough.lowerBound, measured))
    }

    /// The most that may be left of an unwanted window for it to end by itself, which keeps its connection: it must
    /// arrive before the answer to the next request can.
    var mostLingering: Int64 {
        let isKnown = measure.bytesPerRequest != nil || hasWholeWindow
        return min(settings.readThrough, isKnown ? readThrough : settings.askNextAt)
    }

    /// How much one request asks for.
    func window(for why: FetchReason) -> Int64 {
        switch why {
        case .demand: settings.demandWindow
        case .readAhead: readAheadWindow
        case .prefetch, .fill, .revalidate, .probe: spareWindow
        }
    }

    /// About two seconds of the line. If windows come too fast to be measured, each is twice as long as the one before.
    var readAheadWindow: Int64 {
        guard let rate = measure.bytesPerSecond else {
            // Ten doublings go far beyond the largest window and cannot overflow.
            return min(settings.largestWindow, settings.firstWindow << min(wholeWindows, 10))
        }
        return min(settings.largestWindow, max(settings.demandWindow, Int64(min(rate * 2, 1e12))))
    }

    /// Half a second of the line, which is as long as a more urgent need may have to share it.
    private var spareWindow: Int64 {
        guard let rate = measure.bytesPerSecond else { return settings.demandWindow }
        return min(settings.largestSpareWindow, max(settings.demandWindow, Int64(min(rate / 2, 1e12))))
    }

    /// `true` if a second connection should be opened, or used before it is closed as idle, so that a seek finds one
    /// free and warm. `bytesPerSecond` is what is being played.
    func lacksSecondConnection(playing bytesPerSecond: Double, now: Duration) -> Bool {
        guard takesOneAtATime, pairedAt.map({ now - $0 >= settings.longestAlone }) ?? true else {
            return false
        }
        guard let rate = measure.bytesPerSecond else { return hasWholeWindow }
        return rate >= settings.spareRate * bytesPerSecond
    }
}
