/// Receives the loaders' requests and decisions: enough to explain any stall afterwards.
///
/// Called from any task, often while music waits: an implementation must not block.
package protocol RequestJournal: Sendable {
    func record(_ record: JournalRecord)

    /// A request was sent, was answered or has brought more; the record has no end yet. Its last record, or `withdrew`,
    /// follows.
    func progressed(_ record: JournalRecord)

    /// The request with this number was not sent after all: the player is offline.
    func withdrew(_ number: Int)
}

// A journal of ended requests needs no more.
extension RequestJournal {
    package func progressed(_ record: JournalRecord) {}
    package func withdrew(_ number: Int) {}
}

/// One line of the journal.
package struct JournalRecord: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// A request has ended, or was cancelled.
        case request(RequestRecord)
        /// A decision that no single request shows.
        case decision(Decision, SafeText)
    }

    /// The raw value is the journal's.
    package enum Decision: String, Sendable {
        /// Nothing came; the next attempt is later.
        case retryLater = "retry-later"
        /// The last attempt failed, and so do the reads.
        case gaveUp = "gave-up"
        /// The bytes in between are read through, since a new request would take longer.
        case readThrough = "read-through"
        /// A new request is sent, since reading through would take longer.
        case reconnect
        /// The server's ranges are of no use, so the whole is fetched.
        case withoutRanges = "without-ranges"
        /// The resource has changed on its server.
        case changed
        case wentOffline = "went-offline"
        case wentOnline = "went-online"
        /// The body has no end.
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

/// Why a request is made: its priority, the highest first.
package enum FetchReason: String, Sendable, Comparable, CaseIterable {
    /// A read waits for it.
    case demand
    /// Read-ahead of the track that plays.
    case readAhead = "read-ahead"
    /// The head of the next track.
    case prefetch
    /// A background fetch of what is missing.
    case fill
    /// To find out whether what is stored is current.
    case revalidate
    /// To find out whether the network is back.
    case probe

    package static func < (left: FetchReason, right: FetchReason) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One request from its start to its end.
package struct RequestRecord: Sendable, Equatable {
    /// Counts up through the life of the process.
    package var number: Int
    package var why: FetchReason
    /// The range asked for; `nil` for the whole.
    package var asked: ByteRange?
    /// On the loader's clock.
    package var startedAt: Duration
    /// The status of the last answer; `nil` if none came.
    package var status: Int?
    /// The range that the answer's body is; `nil` if it has none or does not tell.
    package var answered: ByteRange?
    /// From the start to the answer's head.
    package var firstByte: Duration?
    /// Body bytes received.
    package var bytes: Int64 = 0
    /// From the start to the end.
    package var duration = Duration.zero
    /// `complete`, `cancelled`, or the code of the error.
    package var end = ""
    package var wire = WireFacts()

    package init(number: Int, why: FetchReason, asked: ByteRange?, startedAt: Duration) {
        self.number = number
        self.why = why
        self.asked = asked
        self.startedAt = startedAt
    }
}

/// How an answer was transferred.
package struct WireFacts: Sendable, Equatable {
    /// The status as sent; 0 if unknown.
    package var status = 0
    /// `HTTP/1.1`, `HTTP/2`, `ICY`, …; empty if unknown.
    package var version = ""
    /// `true` if the connection was open before; `nil` if unknown.
    package var reusedConnection: Bool?
    /// The host that answered, if a redirect led to another.
    package var redirectedHost: SafeText?

    package init() {}

    /// `true` if its connection carries one request at a time (HTTP/1).
    package var takesOneAtATime: Bool { version.hasPrefix("HTTP/1") }
}
