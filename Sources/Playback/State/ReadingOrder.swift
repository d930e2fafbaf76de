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

    /// Tracks of one source; the last ones if it was read to its end.
    private struct Part {
        let source: String
        var found: ResolvedTracks
        var isLast: Bool
    }

    private struct Source {
        let number: Int
        let text: String
        let begin: Duration
        /// When its last part was passed on, or its reading began.
        var lastTime: Duration
        var found = ResolvedTracks(tracks: [])
        /// The sources that were read behind it and wait for its end, unless it is passed over.
        var behind: [Part] = []
        var isPassedOver = false
        /// Set once its reading was stopped: from then on it counts as read.
        var giveUp: Duration?
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
    private var waiting: ArraySlice<(text: String, isForeign: Bool)> = []
    /// The sources that are being read, in order.
    private var reading: [Source] = []
    /// The tracks to pass on next.
    private var ready: [Part] = []
    private var begunCount = 0
    private var count: Int
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
        if !tracks.isEmpty {
            ready = [Part(source: "", found: ResolvedTracks(tracks: tracks), isLast: false)]
        }
    }

    // MARK: Events

    /// `isForeign` is `true` if another program named the source, not the user.
    mutating func add(_ source: String, isForeign: Bool = false) { waiting.append((source, isForeign)) }

    /// The sources, with their numbers, whose reading begins now.
    mutating func begin(at now: Duration) -> [(number: Int, source: String, isForeign: Bool)] {
        let quick = reading.count { !isSlow($0, at: now) }
        let begun = waiting.prefix(max(0, min(Self.mostQuick - quick, Self.mostInAll - reading.count)))
        waiting.removeFirst(begun.count)
        return begun.map { text, isForeign in
            let number = begunCount
            begunCount += 1
            reading.append(Source(number: number, text: text, begin: now, lastTime: now))
            return (number, text, isForeign)
        }
    }

    /// A part of source `number` was read. Ignored after its end.
    mutating func found(_ number: Int, _ part: ResolvedTracks) {
        guard let place = reading.firstIndex(where: { $0.number == number }) else { return }
        count += part.tracks.count
        reading[place].found.add(part)
    }

    /// Source `number` was read to its end, or can't be read because of `problem`.
    mutating func ended(_ number: Int, _ problem: MediaError?) {
        guard let place = reading.firstIndex(where: { $0.number == number }) else { return }
        var source = reading.remove(at: place)
        if let problem { source.found.problems.append(problem) }
        let end = [Part(source: source.text, found: source.found, isLast: true)] + source.behind
        if source.isPassedOver { ready += end } else { release(end, from: place) }
    }

    /// Passes over the sources without a track up to the first one with tracks, which are passed on at once,
    /// or as soon as there are any.
    mutating func passOver() {
        lastTime = nil
        if pace == .atOnce { pace = .inParts }
        for place in reading.indices where !reading[place].isPassedOver {
            guard reading[place].found.tracks.isEmpty else { return }
            let hasTracksBehind = reading[place].behind.contains { !$0.found.tracks.isEmpty }
            passOver(place)
            if hasTracksBehind { return }
        }
    }

    private mutating func passOver(_ place: Int) {
        reading[place].isPassedOver = true
        release(exchange(&reading[place].behind, with: []), from: place)
    }

    /// Passes `parts` on, unless a source before `place` holds them up.
    private mutating func release(_ parts: [Part], from place: Int) {
        if let holder = reading[..<place].lastIndex(where: { !$0.isPassedOver }) {
            reading[holder].behind += parts
        } else {
            ready += parts
        }
    }

    /// Begins none of the present sources any more; the caller cancels those that are being read. Returns how
    /// many were left out. A cancelled source that does not end within two seconds, such as standard input,
    /// counts as read.
    mutating func stop(at now: Duration) -> Int {
        for place in reading.indices where reading[place].giveUp == nil {
            reading[place].giveUp = now + Self.longestWait
        }
        let leftOut = exchange(&waiting, with: []).map { source in
            Part(source: source.text, found: ResolvedTracks(tracks: []), isLast: true)
        }
        release(leftOut, from: reading.count)
        return leftOut.count
    }

    // MARK: Results

    /// The outputs that are due at `now`, in order.
    mutating func outputs(at now: Duration) -> [Output] {
        for source in reading where source.giveUp.map({ $0 <= now }) == true { ended(source.number, nil) }
        var isHeldUp = false
        for place in reading.indices {
            let passesOver =
                pace == .singly && !reading[place].isPassedOver && isSlow(reading[place], at: now)
            if passesOver || reading[place].isPassedOver || !isHeldUp { collect(place, at: now) }
            if passesOver { passOver(place) }
            isHeldUp = isHeldUp || !reading[place].isPassedOver
        }
        return parts(at: now) + awaited(at: now)
    }

    /// The next time at which `outputs` may return something although no event came; `nil` if there is no
    /// such time.
    func due(after now: Duration) -> Duration? {
        var times = reading.compactMap(\.giveUp) + reading.map { $0.begin + Self.longestWait }
        if pace == .singly {
            times += reading.filter { !$0.found.tracks.isEmpty }.map { $0.lastTime + Self.longestWait }
        } else if pace == .inParts, let lastTime, ready.contains(where: { !$0.found.tracks.isEmpty }) {
            times.append(lastTime + Self.longestWait)
        }
        if let report, report.source == awaited?.number, report.count != count {
            times.append(report.time + Self.longestWait)
        }
        return times.filter { $0 > now }.min()
    }

    private func isSlow(_ source: Source, at now: Duration) -> Bool { now - source.begin >= Self.longestWait }

    /// Moves the tracks that were read of a source, which need not wait for others, to `ready`.
    private mutating func collect(_ place: Int, at now: Duration) {
        guard !reading[place].found.tracks.isEmpty,
            pace != .singly || now - reading[place].lastTime >= Self.longestWait
        else { return }
        let found = exchange(&reading[place].found, with: ResolvedTracks(tracks: []))
        ready.append(Part(source: reading[place].text, found: found, isLast: false))
        reading[place].lastTime = now
    }

    private mutating func parts(at now: Duration) -> [Output] {
        if pace == .singly {
            return exchange(&ready, with: []).map { .part($0.found, isLast: $0.isLast, source: $0.source) }
        }
        let isEnd = reading.isEmpty && waiting.isEmpty
        let isDue = lastTime.map { now - $0 >= Self.longestWait } ?? true
        guard !isOver,
            isEnd || (isDue && pace == .inParts && ready.contains { !$0.found.tracks.isEmpty })
        else { return [] }
        isOver = isEnd
        lastTime = now
        var part = ResolvedTracks(tracks: [])
        for source in exchange(&ready, with: []) { part.add(source.found) }
        return [.part(part, isLast: isEnd)]
    }

    /// The first source that holds up others, or else the first one that is being read.
    private var awaited: Source? {
        let awaited = reading.filter { $0.giveUp == nil }
        return awaited.first { !$0.isPassedOver } ?? awaited.first
    }

    private mutating func awaited(at now: Duration) -> [Output] {
        guard let source = awaited, isSlow(source, at: now) else {
            return exchange(&report, with: nil) == nil ? [] : [.awaits(nil, tracks: count)]
        }
        if let report, report.source == source.number {
            guard report.count != count, now - report.time >= Self.longestWait else { return [] }
        }
        report = (source.number, count, now)
        return [.awaits(Self.name(of: source.text), tracks: count)]
    }

    /// The name of a source as the queue shows it, without secrets.
    static func name(of source: String) -> SafeText {
        if source == "-" { return "standard input" }
        return (WebURL(source).map { .web($0) } ?? ResourceLocation.file(source)).name
    }
}
