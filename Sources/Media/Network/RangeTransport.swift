/// One byte range in, an answer and chunks out.
package protocol RangeTransport: Sendable {
    /// Sends `request`, follows redirects, and returns when the final answer's head is there.
    ///
    /// Throws `CancellationError` when the task is cancelled, else `MediaError` (unknown host,
    /// refused connection, wrong certificate, …).
    func send(_ request: RangeRequest) async throws -> RangeResponse
}

/// One request for a resource or a part of it.
package struct RangeRequest: Sendable, Equatable {
    package var url: WebURL
    /// The bytes asked for; nil asks for the whole without a `Range` header.
    /// An upper bound of `Int64.max` asks for all from the lower bound on.
    package var range: ByteRange?
    /// The value of `If-Range`, which only goes with a range.
    package var ifRange: String?
    /// The value of `If-None-Match` or `If-Modified-Since`, for revalidation.
    package var unlessMatches: Validators?
    /// Whether a live stream may put titles between its bytes (`Icy-MetaData: 1`).
    package var wantsTitles: Bool

    package init(
        url: WebURL,
        range: ByteRange?,
        ifRange: String? = nil,
        unlessMatches: Validators? = nil,
        wantsTitles: Bool = false
    ) {
        self.url = url
        self.range = range
        self.ifRange = ifRange
        self.unlessMatches = unlessMatches
        self.wantsTitles = wantsTitles
    }
}

/// An answer's head and the way to its body.
package struct RangeResponse: Sendable {
    package var answer: RangeAnswer
    package var body: any ResponseBody

    package init(answer: RangeAnswer, body: any ResponseBody) {
        self.answer = answer
        self.body = body
    }
}

/// What an answer says, after the response algebra: it decides what is stored, never the request.
package struct RangeAnswer: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// 206: the body is `range` of a resource of `total` bytes (nil for `*`).
        case part(range: ByteRange, total: Int64?)
        /// 200: the body is the whole from its first byte; `length` where it is stated.
        case whole(length: Int64?)
        /// 416: nothing there; `total` where it is stated.
        case unsatisfiable(total: Int64?)
        /// 304: what is stored is current.
        case notModified
        /// Any other status, a 206 that cannot be placed (also one in a content coding), or a length that
        /// nothing could hold; the body is nothing to keep.
        case refused(status: Int)
    }

    package var kind: Kind
    package var validators: Validators
    /// `Content-Type` without parameters, in lower case.
    package var contentType: String?
    /// Whether the answer forbids keeping it (`Cache-Control: no-store`).
    package var forbidsStoring: Bool
    /// Whether the body is in a content coding, so that offsets mean nothing.
    package var isEncoded: Bool
    /// Requests that this answer took, redirects included; at least 1.
    package var requestCount: Int
    /// How long the server asks to be left alone (`Retry-After`, RFC 9110 §10.2.3); nil where it does not.
    package var retryAfter: Duration?
    /// Set where a live stream answers.
    package var station: Station?
    /// The URL had a user name and a password that were not sent, because the listener did not name its server
    /// as a source.
    package var withholdsUserInfo: Bool
    package var wire: WireFacts

    package init(
        kind: Kind,
        validators: Validators = Validators(),
        contentType: String? = nil,
        forbidsStoring: Bool = false,
        isEncoded: Bool = false,
        requestCount: Int = 1,
        retryAfter: Duration? = nil,
        station: Station? = nil,
        withholdsUserInfo: Bool = false,
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
        self.withholdsUserInfo = withholdsUserInfo
        self.wire = wire
    }
}

/// The body of an answer, pulled chunk by chunk; what is not pulled slows the sender down.
package protocol ResponseBody: Sendable {
    /// The next bytes, never empty; nil at the end as the answer's own framing tells it.
    ///
    /// Throws `MediaError` with `.cut` when the connection ended before that. After `cancel`, or when the
    /// task is cancelled, what had come is still handed out, then it throws `CancellationError`.
    func next() async throws -> [UInt8]?

    /// The newest title that a live stream put before the bytes that `next` handed out last; nil when there
    /// was none since the last call. The titles themselves are never among the bytes.
    func takeTitle() -> SafeText?

    /// Ends the transfer, also in mid-body, from any thread; later calls do nothing. Nothing more is taken
    /// from the line; what had come waits for `next`, and goes with the body.
    func cancel()
}

extension ResponseBody {
    /// Most bodies are no live streams.
    package func takeTitle() -> SafeText? { nil }
}
