/// Hears what the loaders ask for and decide: enough to explain any stall afterwards.
///
/// Called from any task, often while music waits: an implementation only takes the record and returns.
package protocol RequestJournal: Sendable {
    func record(_ record: JournalRecord)

    /// A request was sent, was answered or has brought more: what is known of it by now, without an end. Its last record,
    /// or `withdrew`, follows.
    func progressed(_ record: JournalRecord)

    /// The request of this number was not sent after all, as there is no network.
    func withdrew(_ number: Int)
}

// Who keeps what has ended needs no more.
extension RequestJournal {
    package func progressed(_ record: JournalRecord) {}
    package func withdrew(_ number: Int) {}
}

/// One line of the journal.
package struct JournalRecord: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// A request has ended, or was cancelled.
        case request(RequestRecord)
        /// Something was decided that no single request tells.
        case decision(Decision, SafeText)
    }

    /// Kinds of decisions; the raw value is what the journal says.
    package enum Decision: String, Sendable {
        /// Nothing came; it is tried again later.
        case retryLater = "retry-later"
        /// Nothing came often enough; the reads fail.
        case gaveUp = "gave-up"
        /// What lies between is read through, since a new request would take longer.
        case readThrough = "read-through"
        /// A new request, since reading through would take longer.
        case reconnect
        /// The server's ranges are of no use; asked for the whole.
        case withoutRanges = "without-ranges"
        /// The resource is another one now.
        case changed
        case wentOffline = "went-offline"
        case wentOnline = "went-online"
        /// The body goes on without end.
        case live
    }

    /// On the loader's clock.
    package var time: Duration
    /// The resource, without secrets.
    package var resource: SafeText
    package var event: Event

    package init(time: Duration, resource: SafeText, event: Event) {
        self.time = time
        self.resource = resource
        self.event = event
    }
}

/// Why a request is made, the most urgent first. What is less urgent waits for what is more.
package enum FetchReason: String, Sendable, Comparable, CaseIterable {
    /// A read waits for it.
    case demand
    /// Ahead of what is being played.
    case readAhead = "read-ahead"
    /// The head of the next track.
    case prefetch
    /// Gaps in what was heard.
    case fill
    /// Whether what is stored is current.
    case revalidate
    /// Whether the network is back.
    case probe

    package static func < (left: FetchReason, right: FetchReason) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One request from its start to its end.
package struct RequestRecord: Sendable, Equatable {
    /// Counts up through the process.
    package var number: Int
    package var why: FetchReason
    /// What was asked for; nil for the whole.
    package var asked: ByteRange?
    /// On the loader's clock.
    package var startedAt: Duration
    /// The status of the last answer; nil when none came.
    package var status: Int?
    /// Where the answer's bytes belong; nil when it has none or does not say.
    package var answered: ByteRange?
    /// From the start to the answer's head.
    package var firstByte: Duration?
    /// Body bytes received.
    package var bytes: Int64 = 0
    /// From the start to the end.
    package var duration = Duration.zero
    /// `complete`, `cancelled`, or the code of what went wrong.
    package var end = ""
    package var wire = WireFacts()

    package init(number: Int, why: FetchReason, asked: ByteRange?, startedAt: Duration) {
        self.number = number
        self.why = why
        self.asked = asked
        self.startedAt = startedAt
    }
}

/// How an answer came over the line.
package struct WireFacts: Sendable, Equatable {
    /// The status as sent; 0 where the transport knows none.
    package var status = 0
    /// `HTTP/1.1`, `HTTP/2`, `ICY`, …; empty where it is not known.
    package var version = ""
    /// Whether the connection was there before; nil where it is not known.
    package var reusedConnection: Bool?
    /// The host that answered, where a redirect led to another.
    package var redirectedHost: SafeText?

    package init() {}

    /// Whether its connection carries one request at a time (HTTP/1).
    package var takesOneAtATime: Bool { version.hasPrefix("HTTP/1") }
}
