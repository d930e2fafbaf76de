/// Sends requests for byte ranges.
package protocol RangeTransport: Sendable {
    /// Sends `request`, follows redirects, and returns when the head of the final response has arrived.
    ///
    /// Throws `CancellationError` if the task is cancelled, else `MediaError` (unknown host, refused
    /// connection, wrong certificate, …).
    func send(_ request: RangeRequest) async throws -> RangeResponse
}

/// One request for a resource or a part of it.
package struct RangeRequest: Sendable, Equatable {
    package var url: WebURL
    /// The requested bytes; `nil` requests the whole resource, without a `Range` header. An upper bound of
    /// `Int64.max` requests everything from the lower bound on.
    package var range: ByteRange?
    /// The value of `If-Range`; only together with a range.
    package var ifRange: String?
    /// The value of `If-None-Match` or `If-Modified-Since`, for revalidation.
    package var unlessMatches: Validators?
    /// `true` to allow a live stream to send titles between its bytes (`Icy-MetaData: 1`).
    package var wantsTitles: Bool
    /// The URL of the stream of segments to which the resource belongs, if it does. The requests of a stream
    /// share the cookies that any of its answers have set, that for its URL included.
    package var stream: WebURL?
    /// `true` if the request fails rather than follow a redirect to another host.
    package var staysOnHost = false
    /// `true` if the user waits for the response, so that a server may ask them for a log-in first.
    package var mayAskUser = false

    package init(
        url: WebURL,
        range: ByteRange?,
        ifRange: String? = nil,
        unlessMatches: Validators? = nil,
        wantsTitles: Bool = false,
        stream: WebURL? = nil
    ) {
        self.url = url
        self.range = range
        self.ifRange = ifRange
        self.unlessMatches = unlessMatches
        self.wantsTitles = wantsTitles
        self.stream = stream
    }
}

/// The head of a response, and its body.
package struct RangeResponse: Sendable {
    package var answer: RangeAnswer
    package var body: any ResponseBody

    package init(answer: RangeAnswer, body: any ResponseBody) {
        self.answer = answer
        self.body = body
    }
}

/// The whole body of a response, in memory.
package struct FetchedBody: Sendable {
    package var answer: RangeAnswer
    /// `nil` if the resource is still the one that the validators of the request describe (304).
    package var bytes: [UInt8]?

    package init(answer: RangeAnswer, bytes: [UInt8]?) {
        self.answer = answer
        self.bytes = bytes
    }
}

/// The head of a response as interpreted by the HTTP module. What is stored depends on this, not on the
/// request.
package struct RangeAnswer: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// 206: the body is `range` of a resource of `total` bytes (`nil` for `*`).
        case part(range: ByteRange, total: Int64?)
        /// 200: the body is the whole resource from its first byte; `length` is `nil` if it is not stated.
        case whole(length: Int64?)
        /// 416: the resource has no bytes in the requested range; `total` is `nil` if it is not stated.
        case unsatisfiable(total: Int64?)
        /// 304: the stored version is current.
        case notModified
        /// Any other status, a 206 at an unknown offset or in a content coding, or an impossible length. The
        /// body is useless.
        case refused(status: Int)
    }

    package var kind: Kind
    package var validators: Validators
    /// `Content-Type` without parameters, in lower case.
    package var contentType: String?
    /// `true` if the response must not be cached (`Cache-Control: no-store`).
    package var forbidsStoring: Bool
    /// `true` if the body is in a content coding, so that offsets are meaningless.
    package var isEncoded: Bool
    /// The number of requests that led to this response, redirects included; at least 1.
    package var requestCount: Int
    /// The time to wait that the server states (`Retry-After`, RFC 9110 §10.2.3); `nil` if it does not.
    package var retryAfter: Duration?
    /// The station if the response is a live stream, else `nil`.
    package var station: Station?
    /// `true` if the resource was modified less than a minute before the response was sent (`Last-Modified`,
    /// `Date`).
    package var isFresh = false
    /// `true` if the URL has a user name and a password that were not sent, because the user did not name its
    /// server as a source.
    package var withholdsUserInfo = false
    /// `true` if the server wants a log-in, for which the user is asked once they wait for the resource.
    package var mayAskLater = false
    /// The origin (`WebURL.origin`) that answered, if the request was redirected to another one.
    package var redirectedOrigin: String?
    package var wire: WireFacts
    /// The URL that answered; `nil` if no redirect led there.
    package var redirectedTo: WebURL?

    package init(
        kind: Kind,
        validators: Validators = Validators(),
        contentType: String? = nil,
        forbidsStoring: Bool = false,
        isEncoded: Bool = false,
        requestCount: Int = 1,
        retryAfter: Duration? = nil,
        station: Station? = nil,
        wire: WireFacts = WireFacts()
    ) {
        self.kind = kind
        self.validators = validators
        self.contentType = contentType
        self.forbidsStoring = forbidsStoring
        self.isEncoded = isEncoded
        self.requestCount = requestCount
        self.retryAfter = retryAfter
        self.station = station
        self.wire = wire
    }
}

/// The body of a response, read chunk by chunk. Unread bytes slow the sender down.
package protocol ResponseBody: Sendable {
    /// Returns the next bytes, never empty; `nil` at the end of the body, as the response's framing defines
    /// it.
    ///
    /// Throws `MediaError` with `.cut` if the connection ended earlier. After `cancel`, or if the task is
    /// cancelled, returns the bytes that had arrived, then throws `CancellationError`.
    func next() async throws -> [UInt8]?

    /// The newest title of a live stream before the bytes that `next` returned last; `nil` if there was none
    /// since the last call. Titles are never among the bytes.
    func takeTitle() -> SafeText?

    /// Ends the transfer, even within the body. May be called from any thread; later calls do nothing. The
    /// bytes that had arrived can still be read.
    func cancel()
}

extension ResponseBody {
    /// Most bodies have no titles.
    package func takeTitle() -> SafeText? { nil }
}
