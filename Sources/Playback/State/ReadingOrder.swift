import Media

/// Decides when sources are read, and in which order their tracks are passed on. Pure.
///
/// Four sources are read at a time; one that takes longer than two seconds makes room for another, up to
/// sixteen. Tracks are passed on in the order of the sources, up to the first one that is not read yet. A
/// source that is passed over no longer holds up the others: its tracks follow whenever they come.
struct ReadingOrder: Sendable {
    /// The times at which tracks are passed on.
    enum Pace: Sendable {
        /// Every two seconds in one part, and the last part once all sources are read.
        case inParts
        /// In one part, once all sources are read; in parts as soon as one is passed over.
        case atOnce
        /// Each source by itself. One that takes longer than two seconds is passed over.
        case singly
    }

    enum Output: Sendable, Equatable {
        /// Tracks for the end of the queue. `isLast` for the last ones of all sources, or, if `singly`, of
        /// `source`.
        case part(ResolvedTracks, isLast: Bool, source: String? = nil)
        /// This source has been awaited for two seconds; `nil` once no source is. `tracks` is the number of
        /// tracks read so far.
        case awaits(SafeText?, tracks: Int)
    }

    /// A source with the tracks that were not passed on yet.
    private struct Source {
        let text: String
        var found = ResolvedTracks(tracks: [])
        var begin = Duration.zero
        /// When its last part was passed on, or its reading began.
        var lastTime = Duration.zero
        var isRead = false
        var isPassedOver = false
    }

    /// A source that takes longer is slow. Listeners notice a longer silence; a shorter time would only make
    /// more parts.
    static let longestWait = Duration.seconds(2)
    /// The most sources that are read at a time, without slow ones. As with the lists of one source, more
    /// would only share the same connection.
    static let mostQuick = 4
    /// The most sources that are read at a time, including slow ones.
    static let mostInAll = 16

    private var pace: Pace
    /// The sources of which more may be passed on, by their number.
    private var sources: [Int: Source] = [:]
    /// The first of these that was not passed over. Those behind it wait for it.
    private var first = 0
    /// The next source to be read.
    private var next = 0
    private var end = 0
    /// The number of the source after the last one whose reading was stopped.
    private var cancelled = 0
    /// The time of that stop; `nil` once all of them have ended.
    private var stopTime: Duration?
    /// The sources that are being read, in order.
    private var reading: [Int] = []
    private var passedOver: [Int] = []
    /// The tracks to pass on next. Unless the pace is `singly`, they are merged into one part.
    private var ready: [(part: ResolvedTracks, isLast: Bool, source: String)] = []
    private var count = 0
    /// The time at which the last merged part was passed on; `nil` if the next one is due as soon as there is
    /// one.
    private var lastTime: Duration?
    private var report: (source: Int, count: Int, time: Duration)?
    /// `true` once the last part of all sources was passed on.
    private var isOver = false

    /// `tracks` precede those of the sources.
    init(_ pace: Pace, tracks: [Track] = [], now: Duration = .zero) {
        self.pace = pace
        lastTime = now
        count = tracks.count
        if !tracks.isEmpty { ready = [(ResolvedTracks(tracks: tracks), false, "")] }
    }

    // MARK: Events

    mutating func add(_ source: String) {
        sources[end] = Source(text: source)
        end += 1
    }

    /// The sources, with their numbers, whose reading begins now.
    mutating func begin(at now: Duration) -> [(number: Int, source: String)] {
        var begun: [(number: Int, source: String)] = []
        var quick = reading.count { !isSlow($0, at: now) }
        while next < end, quick < Self.mostQuick, reading.count < Self.mostInAll {
            sources[next]?.begin = now
            sources[next]?.lastTime = now
            begun.append((next, sources[next]?.text ?? ""))
            reading.append(next)
            next += 1
            quick += 1
        }
        return begun
    }

    /// A part of source `number` was read. Ignored after its end.
    mutating func found(_ number: Int, _ part: ResolvedTracks) {
        guard sources[number] != nil else { return }
        count += part.tracks.count
        sources[number]?.found.add(part)
    }

    /// Source `number` was read to its end, or can't be read because of `problem`.
    mutating func ended(_ number: Int, _ problem: MediaError?) {
        if let problem { sources[number]?.found.problems.append(problem) }
        sources[number]?.isRead = true
        reading.removeAll { $0 == number }
    }

    /// Passes over the sources without a track up to the first one with tracks, which are passed on at once,
    /// or as soon as there are any.
    mutating func passOver() {
        lastTime = nil
        if pace == .atOnce { pace = .inParts }
        for number in first..<next {
            guard let source = sources[number], !source.isPassedOver else { continue }
            guard source.found.tracks.isEmpty else { return }
            if !source.isRead { passOver(number) }
        }
    }

    private mutating func passOver(_ number: Int) {
        sources[number]?.isPassedOver = true
        passedOver.append(number)
    }

    /// Begins none of the present sources any more; the caller cancels those that are being read. Returns how
    /// many were left out. A cancelled source that does not end within two seconds, such as standard input,
    /// counts as read.
    mutating func stop(at now: Duration) -> Int {
        if end > cancelled { stopTime = now }
        defer {
            next = end
            cancelled = end
        }
        for number in next..<end { sources[number]?.isRead = true }
        return end - next
    }

    // MARK: Results

    /// The outputs that are due at `now`, in order.
    mutating func take(at now: Duration) -> [Output] {
        if pace == .singly {
            for number in reading where isSlow(number, at: now) && sources[number]?.isPassedOver == false {
                passOver(number)
            }
        }
        if let stopTime, now - stopTime >= Self.longestWait {
            self.stopTime = nil
            for number in reading where number < cancelled { ended(number, nil) }
        }
        advance(at: now)
        return parts(at: now) + awaited(at: now)
    }

    /// The next time at which `take` may return something without a further event; `nil` if there is none.
    func due(after now: Duration) -> Duration? {
        var times = reading.compactMap { sources[$0].map { $0.begin + Self.longestWait } }.filter { $0 > now }
        if pace == .singly {
            for source in (passedOver + [first]).compactMap({ sources[$0] }) {
                if !source.found.tracks.isEmpty { times.append(source.lastTime + Self.longestWait) }
            }
        } else if pace == .inParts, let lastTime, ready.first?.part.tracks.isEmpty == false {
            times.append(lastTime + Self.longestWait)
        }
        if let stopTime, let first = reading.first, first < cancelled {
            times.append(stopTime + Self.longestWait)
        }
        if let report, let awaited, report.source == awaited, report.count != count {
            times.append(report.time + Self.longestWait)
        }
        return times.min()
    }

    private func isSlow(_ number: Int, at now: Duration) -> Bool {
        sources[number].map { now - $0.begin >= Self.longestWait } ?? false
    }

    /// Moves the tracks that need not wait for others to `ready`.
    private mutating func advance(at now: Duration) {
        for number in passedOver { collect(number, at: now) }
        passedOver.removeAll { sources[$0] == nil }
        while first < end {
            if sources[first]?.isPassedOver == false {
                collect(first, at: now)
                if sources[first] != nil { return }
            }
            first += 1
        }
    }

    private mutating func collect(_ number: Int, at now: Duration) {
        guard let source = sources[number] else { return }
        if pace == .singly {
            let isDue = now - source.lastTime >= Self.longestWait && !source.found.tracks.isEmpty
            guard source.isRead || isDue else { return }
            ready.append((source.found, source.isRead, source.text))
        } else if ready.isEmpty {
            ready = [(source.found, false, "")]
        } else {
            ready[0].part.add(source.found)
        }
        sources[number]?.found = ResolvedTracks(tracks: [])
        sources[number]?.lastTime = now
        if source.isRead { sources[number] = nil }
    }

    private mutating func parts(at now: Duration) -> [Output] {
        guard pace != .singly else {
            defer { ready = [] }
            return ready.map { .part($0.part, isLast: $0.isLast, source: $0.source) }
        }
        let part = ready.first?.part ?? ResolvedTracks(tracks: [])
        if sources.isEmpty {
            guard !isOver else { return [] }
            isOver = true
        } else {
            let isDue = lastTime.map { now - $0 >= Self.longestWait } ?? true
            guard isDue, pace == .inParts, !part.tracks.isEmpty else { return [] }
        }
        ready = []
        lastTime = now
        return [.part(part, isLast: isOver)]
    }

    /// The first source that holds up others, or else the first one that is being read.
    private var awaited: Int? {
        let awaited = reading.drop { $0 < cancelled }
        return awaited.first { sources[$0]?.isPassedOver == false } ?? awaited.first
    }

    private mutating func awaited(at now: Duration) -> [Output] {
        if let awaited, isSlow(awaited, at: now) {
            if let report, report.source == awaited {
                guard report.count != count, now - report.time >= Self.longestWait else { return [] }
            }
            report = (awaited, count, now)
            return [.awaits(sources[awaited].map { Self.name(of: $0.text) }, tracks: count)]
        }
        guard report != nil else { return [] }
        report = nil
        return [.awaits(nil, tracks: count)]
    }

    /// The name of a source as the queue shows it, without secrets.
    static func name(of source: String) -> SafeText {
        if source == "-" { return "standard input" }
        return (WebURL(source).map { .web($0) } ?? ResourceLocation.file(source)).name
    }
}
