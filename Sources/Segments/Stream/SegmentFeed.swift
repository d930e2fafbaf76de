import Media

/// A segment that was opened and not passed over yet.
struct OpenedSegment: Sendable {
    var segment: Segment
    /// The bytes of the resource that are the segment; `nil` if all are.
    var range: ByteRange?
    /// `nil` for a gap, which is not requested.
    var part: StreamPart?
}

/// Decides which segments are opened: the one for which the decoder waits, and those that are read ahead.
/// Pure.
struct SegmentFeed: Sendable {
    /// Numbers the runs of the feeder: after a seek another one begins, and nothing of the old one counts.
    struct Run: Sendable, Equatable {
        fileprivate var number = 0
    }

    enum Work: Sendable {
        /// To open the next segment.
        case open
        /// The same, once this one is loaded.
        case openAfterLoading(OpenedSegment)
        case wait
        /// Another run has begun.
        case stop
    }

    enum Found: Sendable {
        case segment(OpenedSegment, isLowPriority: Bool)
        case end
        case failure(any Error)
        /// The feeder opens it next.
        case missing
        /// The feeder is elsewhere.
        case restart
    }

    /// The most segments that are open, however short they are.
    private static let mostOpened = 64

    let readAhead: Duration
    /// `true` once segments may be read ahead.
    var readsAhead = false
    /// `true` while the reads of the stream are no more urgent than those of the next track.
    var isLowPriority = false
    /// The opened segments, with rising numbers from `first` on.
    private(set) var opened: [OpenedSegment] = []
    private var first = 0
    /// The number after the last segment, once it was reached.
    private var end: Int?
    /// The error of the segment after the opened ones.
    private var failure: (any Error)?
    /// `true` after an error ahead of the decoder: it may have passed when the decoder gets there.
    private var isHeldBack = false
    /// `true` while the decoder waits for the segment after the opened ones.
    private(set) var isWaiting = false
    /// `true` once the decoder has used up a segment.
    private(set) var hasLoaded = false
    private(set) var isClosed = false
    private var run: Run?
    /// Readers that are not needed any more.
    private var retired: [StreamPart] = []

    init(readAhead: Duration) { self.readAhead = readAhead }

    /// The least number of the segment to open next.
    private var next: Int { opened.last.map { $0.segment.number + 1 } ?? first }

    /// `true` if what is opened now can wait.
    var opensAtLowPriority: Bool { isLowPriority || !isWaiting }

    /// All readers that are open.
    var parts: [StreamPart] { opened.compactMap(\.part) + retired }

    // MARK: The decoder

    /// Looks for segment `number` or the one after it, for which the decoder waits, and lets go of those
    /// before it.
    mutating func look(for number: Int) -> Found {
        if isClosed { return .failure(CancellationError()) }
        guard run != nil, (first...next).contains(number) else { return .restart }
        if number > first { hasLoaded = true }
        let passed = opened.prefix { $0.segment.number < number }
        retired += passed.compactMap(\.part)
        opened.removeFirst(passed.count)
        first = number
        if let found = opened.first { return .segment(found, isLowPriority: isLowPriority) }
        if let end, number >= end { return .end }
        if let failure {
            self.failure = nil
            return .failure(failure)
        }
        isWaiting = true
        isHeldBack = false
        return .missing
    }

    /// The bytes of segment `number` come from `part` now.
    mutating func replacePart(of number: Int, by part: StreamPart) {
        if let place = opened.firstIndex(where: { $0.segment.number == number }) {
            retired += [opened[place].part].compactMap { $0 }
            opened[place].part = part
        } else {
            retired.append(part)
        }
    }

    /// Begins another run of the feeder at segment `number`, for which the decoder waits; `nil` once closed.
    mutating func restart(at number: Int) -> Run? {
        guard !isClosed else { return nil }
        letGo()
        first = number
        end = nil
        failure = nil
        isHeldBack = false
        isWaiting = true
        run = Run(number: (run?.number ?? 0) + 1)
        return run
    }

    mutating func close() {
        letGo()
        isClosed = true
        isWaiting = false
    }

    private mutating func letGo() {
        retired += opened.compactMap(\.part)
        opened = []
    }

    // MARK: The feeder

    /// What the feeder of `run` does next.
    func work(of run: Run) -> Work {
        if run != self.run { return .stop }
        if isClosed || end != nil || failure != nil { return .wait }
        if isWaiting { return .open }
        let loaded = opened.reduce(.zero) { $0 + $1.segment.duration }
        guard readsAhead, !isHeldBack, let last = opened.last, loaded < readAhead,
            opened.count < Self.mostOpened
        else { return .wait }
        return .openAfterLoading(last)
    }

    /// `true` if the feeder of `run` has no reason to wait.
    func hasWork(of run: Run) -> Bool {
        if case .wait = work(of: run) { return !retired.isEmpty }
        return true
    }

    /// Receives the next segment, `nil` at the end of the stream, or the error of opening it.
    mutating func receive(_ result: Result<OpenedSegment?, any Error>, of run: Run) {
        guard run == self.run, !isClosed else {
            if case .success(let opened?) = result { retired += [opened.part].compactMap { $0 } }
            return
        }
        let wasWaiting = isWaiting
        isWaiting = false
        switch result {
        case .success(let segment?): opened.append(segment)
        case .success(nil): end = next
        case .failure(let error) where wasWaiting: failure = error
        case .failure: isHeldBack = true
        }
    }

    /// Removes the readers to close.
    mutating func takeRetired() -> [StreamPart] {
        defer { retired = [] }
        return retired
    }
}
