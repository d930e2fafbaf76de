/// Receives the loaders' requests and decisions: enough to explain any stall afterwards.
///
/// Called from any task, often while playback waits for bytes, so an implementation must not block.
package protocol RequestJournal: Sendable {
    func record(_ record: JournalRecord)

    /// A request was sent, got its response, or received more bytes. Its record is not final: a call of
    /// `record` or `withdrew` follows.
    func progressed(_ record: JournalRecord)

    /// The request with this number was not sent after all: the player is offline.
    func withdrew(_ number: Int)
}

// By default, only ended requests are recorded.
extension RequestJournal {
    package func progressed(_ record: JournalRecord) {}
    package func withdrew(_ number: Int) {}
}

/// One line of the journal.
package struct JournalRecord: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// A request has ended, or was cancelled.
        case request(RequestRecord)
        /// A decision that is not visible in any single request.
        case decision(Decision, SafeText)
    }

    /// The raw values are those that the journal file shows.
    package enum Decision: String, Sendable, CaseIterable {
        /// Nothing arrived; the next attempt is later.
        case retryLater = "retry-later"
        /// The last attempt failed, and so do the reads.
        case gaveUp = "gave-up"
        /// After a short jump ahead the current request continues to the new offset, since a new one would
        /// take longer.
        case readThrough = "read-through"
        /// After a jump ahead a new request is sent, since the current one would take longer to reach the new
        /// offset.
        case reconnect
        /// The server's ranges do not work, so the whole resource is fetched.
        case withoutRanges = "without-ranges"
        /// The resource has changed on its server.
        case changed
        case wentOffline = "went-offline"
        case wentOnline = "went-online"
        /// The body is a live stream, which has no end.
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

/// How urgently a request is needed, and by what; the most urgent comes first.
package enum Urgency: String, Sendable, Comparable, CaseIterable {
    /// A read waits for it.
    case demand
    /// Read-ahead of the track that plays.
    case readAhead = "read-ahead"
    /// The head of the next track.
    case prefetch
    /// A background fetch of missing bytes.
    case fill
    /// A check if the stored bytes are current.
    case revalidate
    /// The first bytes of a track that the screen shows, for its tags.
    case tags

    package static func < (left: Urgency, right: Urgency) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One request from its start to its end.
package struct RequestRecord: Sendable, Equatable {
    /// Unique in the process; increases with each request.
    package var number: Int
    package var urgency: Urgency
    /// The requested range; `nil` for the whole resource.
    package var asked: ByteRange?
    /// On the loader's clock.
    package var startedAt: Duration
    /// The status of the last response; `nil` if there was none.
    package var status: Int?
    /// The range of the response's body; `nil` if there is no body or its range is not stated.
    package var answered: ByteRange?
    /// The time from the start to the response's head.
    package var firstByte: Duration?
    /// Body bytes received.
    package var bytes: Int64 = 0
    /// The time from the start to the end.
    package var duration = Duration.zero
    /// `complete`, `cancelled`, or the code of the error.
    package var end = ""
    package var wire = WireFacts()

    package init(number: Int, urgency: Urgency, asked: ByteRange?, startedAt: Duration) {
        self.number = number
        self.urgency = urgency
        self.asked = asked
        self.startedAt = startedAt
    }
}

/// The way in which a response was transferred.
package struct WireFacts: Sendable, Equatable {
    /// The status as sent; 0 if unknown.
    package var status = 0
    /// `HTTP/1.1`, `HTTP/2`, `ICY`, …; empty if unknown.
    package var version = ""
    /// `true` if the connection was open before; `nil` if unknown.
    package var reusedConnection: Bool?
    /// The host that responded, if the request was redirected to another one.
    package var redirectedHost: SafeText?

    package init() {}

    /// `true` if the connection carries one request at a time (HTTP/1).
    package var takesOneAtATime: Bool { version.hasPrefix("HTTP/1") }
}
