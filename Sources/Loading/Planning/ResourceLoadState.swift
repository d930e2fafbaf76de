package import Media

/// Decides what is fetched of one resource: events in, actions out.
///
/// Knows what is stored, who reads where, and which requests are under way. It holds no task,
/// lock or clock (`timeIs` tells it the time), and never sees a byte of the body.
package struct ResourceLoadState: Sendable {
    /// One listener of the resource.
    package struct ReaderID: Hashable, Sendable, Comparable {
        package var value: Int

        package init(_ value: Int) { self.value = value }

        package static func < (left: ReaderID, right: ReaderID) -> Bool { left.value < right.value }
    }

    /// One wait of a reader; news for an old one are not for the next.
    package struct WaitID: Hashable, Sendable {
        package var value: Int
    }

    package enum Action: Equatable, Sendable {
        case startFetch(FetchPlan)
        case cancelFetch(FetchPlan.ID)
        /// The wait is over: its offset is stored, lies past the end, or comes from a live stream.
        case wakeRead(WaitID)
        case failRead(WaitID, MediaError)
        /// `timeCame` is wanted then, in place of any earlier wish.
        case wakeAt(Duration)
        /// The resource is another one now; comes once.
        case declareChanged
        /// For the journal.
        case decided(JournalRecord.Decision, SafeText)
    }

    struct Reader: Sendable {
        /// Where it read last; read-ahead counts from here.
        var offset: Int64 = 0
        var wait: WaitID?
        /// Its reads may wait for those of others.
        var isPatient = false
        var isWaiting: Bool { wait != nil }
        /// How urgent what it waits for is; nil while it waits for nothing.
        var pressingReason: FetchReason? { isWaiting ? (isPatient ? .prefetch : .demand) : nil }
        /// Whether nothing is to come before what it waits for.
        var isPressing: Bool { pressingReason == .demand }
        /// Nil until read-ahead is allowed.
        var readAhead: Int64?
        /// What it plays, as it said when read-ahead was allowed.
        var bytesPerSecond = 0.0
        /// The permission was taken back: nothing more begins ahead, and its next read tells what may end.
        var isRevoked = false
        var prefetches: [ByteRange] = []
        /// It wants all that is missing, when nobody else wants anything.
        var fills = false
    }

    struct Fetch: Sendable {
        var plan: FetchPlan
        /// The next byte it will bring.
        var next: Int64
        /// Where it ends; `Int64.max` when that is not known.
        var end: Int64
        /// How many failures there had been when it began: of several that fail together one counts.
        var round = 0
        /// Began before the next attempt was due, for a read that came newly.
        var isEarly = false
        /// Began while another one had no answer yet, so that the two took two connections.
        var isPaired = false
        /// Began while another one was under way.
        var isBeside = false
        var isAnswered = false
        var hasProgress = false
        /// The server began before what was asked for.
        var startsEarlier = false

        var isWhole: Bool { plan.wanted == nil }
        var remaining: ByteRange { min(next, end)..<end }
    }

    let settings: LoadSettings
    let subject: SafeText
    /// What the answers and earlier opens said of the resource.
    package internal(set) var description: EntryDescription
    package internal(set) var stored: ByteRangeSet
    var readers: [ReaderID: Reader] = [:]
    var fetches: [FetchPlan.ID: Fetch] = [:]
    /// Cancelled fetches whose last bytes may still be on their way into the store: what they are to bring is not
    /// asked for again until they have ended.
    var leaving: [FetchPlan.ID: ByteRange] = [:]
    var nextFetchID = 1
    var nextWaitID = 1
    /// Set by a failure that waiting does not change: nothing is fetched ahead until a read brought something.
    var isBackgroundHeld = false
    /// What others need most urgently; what is less urgent does not begin here meanwhile.
    var othersNeed: FetchReason?
    private var othersRevision = 0
    package internal(set) var measure: LineMeasure
    var retry: RetryState
    /// Counts the failures that count.
    var round = 0
    var now = Duration.zero
    /// How this server is asked for a part of an unchanged file only.
    var ifRangeStep = IfRangeStep.entityTag
    /// The newest part came without a validator, so that it is told by its bytes alone.
    var lacksValidators = false
    /// Set while stored bytes may be of another file than the rest.
    var uncompared: Uncompared?
    /// Whether a connection to this server carries one request at a time; not while that is not known.
    var takesOneAtATime = false
    /// A window came whole: a line that is not measured after that is faster than can be measured.
    var hasWholeWindow = false
    /// How many windows of read-ahead came whole.
    var wholeWindows = 0
    /// When two connections were used side by side last.
    var pairedAt: Duration?
    /// Ranges were of no use; the whole is asked for.
    var hasFallenBack = false
    /// A live stream answered; the next bytes come from elsewhere as soon as `handedOver` says so.
    var isHandingOver = false
    package internal(set) var isLive = false
    /// Why the resource is of no more use; every further read fails with it.
    package internal(set) var verdict: MediaError?

    /// `subject` names the resource in errors; `stored` is what the store has at the start; `measure` what is known
    /// of the line; `seed` decides the jitter of the delays.
    package init(
        settings: LoadSettings,
        subject: SafeText,
        description: EntryDescription,
        stored: ByteRangeSet,
        measure: LineMeasure = LineMeasure(),
        seed: UInt64 = 0
    ) {
        self.settings = settings
        self.subject = subject
        self.description = description
        self.stored = stored
        self.measure = measure
        retry = RetryState(policy: settings.retry, seed: seed)
        // A server that had no ranges the last time is asked again: it may have them by now, and asking
        // costs nothing, while the whole from its first byte costs what is stored once more.
        if description.acceptsRanges == false { self.description.acceptsRanges = nil }
    }

    /// The length in bytes, where known.
    package var length: Int64? { description.length }

    /// Whether every byte is stored.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// What fetches under way are still to bring.
    package var inFlight: [ByteRange] {
        fetches.values.map(\.remaining).filter { !$0.isEmpty && $0.upperBound != .max }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Set while something is wanted, nothing comes, and the next attempt is awaited or under way.
    package var wait: LoadWait? {
        let isWanted = !fetches.isEmpty || readers.values.contains(where: \.isWaiting) || nextWant() != nil
        return isWanted ? retry.wait : nil
    }

    /// What a read finds.
    package enum ReadOutlook: Equatable, Sendable {
        case stored
        case end
        case missing
        /// The live stream has it, or will.
        case live
        case failed(MediaError)
    }

    /// What a read at `offset` finds now.
    package func outlook(at offset: Int64) -> ReadOutlook {
        if let length, offset >= length { return .end }
        if stored.contains(offset) { return .stored }
        if isLive { return .live }
        if let verdict { return .failed(verdict) }
        // A server that was given up is asked again by the next read, but not by twenty in a second.
        if let surrender = retry.surrender, !retry.mayTryEarly(at: now), !isComing(offset) {
            return .failed(surrender)
        }
        return .missing
    }

    /// Whether a request under way brings `offset`.
    func isComing(_ offset: Int64) -> Bool { fetches.values.contains { $0.remaining.contains(offset) } }

    /// Whether a second connection is to be made, or used before it is closed: the next request beside another one
    /// would have to wait for its handshake.
    var lacksSecondConnection: Bool {
        guard takesOneAtATime, pairedAt.map({ now - $0 >= settings.longestAlone }) ?? true else {
            return false
        }
        guard let rate = measure.bytesPerSecond else { return hasWholeWindow }
        return rate >= settings.spareRate * (readers.values.map(\.bytesPerSecond).max() ?? 0)
    }

    /// Tells the time, on the clock of every other time here; what follows happens then.
    package mutating func timeIs(_ time: Duration) { now = max(now, time) }

    /// What others need most urgently has changed. Of two the one with the higher `revision` is the later.
    package mutating func othersNeedChanged(_ need: FetchReason?, revision: Int) -> [Action] {
        guard revision > othersRevision else { return [] }
        othersRevision = revision
        othersNeed = need
        return plan()
    }

    /// The line was measured.
    package mutating func measured(_ update: (inout LineMeasure) -> Void) { update(&measure) }
}

// What is kept with the entry besides its bytes.
extension ResourceLoadState {
    mutating func keep(seekTable: [UInt8]) { description.seekTable = seekTable }

    mutating func keep(title: SafeText?, artist: SafeText?, duration: Duration?) {
        description.title = title?.string
        description.artist = artist?.string
        description.durationSeconds = duration?.seconds
    }

    /// A stored length that the stored bytes contradict is from a damaged index: it is asked for anew.
    mutating func forgetImpossibleLength() {
        if let length, length < 0 || stored.ranges.last?.upperBound ?? 0 > length { description.length = nil }
    }
}
