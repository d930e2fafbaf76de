internal import Media

/// The status and header fields of one response, and their meaning (RFC 9110 §13–15).
///
/// Only the response counts: nothing here depends on what was requested.
struct ResponseHead: Equatable, Sendable {
    /// The version of a response in SHOUTcast's own protocol, `ICY 200 OK`.
    static let icyVersion = "ICY"

    var status: Int
    var fields: HeaderFields
    /// `HTTP/1.1`, `HTTP/2`, `ICY`.
    var version = "HTTP/1.1"
    /// `true` if the connection had carried an earlier response; `nil` if unknown.
    var reusedConnection: Bool?

    /// `true` if the connection carries several transfers at once (HTTP/2 and later).
    var isMultiplexed: Bool {
        version.hasPrefix("HTTP/") && !version.hasPrefix("HTTP/0") && !version.hasPrefix("HTTP/1")
    }

    /// All information that a loader needs about the response.
    ///
    /// `redirectedHost` is the host that responded, if the request was redirected to another one. `wallTime`
    /// is the time of day in seconds since 1970, for servers that send no `Date`.
    func answer(requestCount: Int, redirectedHost: String? = nil, wallTime: Int64 = 0) -> RangeAnswer {
        RangeAnswer(
            kind: kind,
            validators: validators,
            contentType: contentType,
            forbidsStoring: fields.tokens("cache-control").contains("no-store"),
            isEncoded: isEncoded,
            requestCount: requestCount,
            retryAfter: retryAfter(wallTime: wallTime),
            station: station,
            wire: wire(redirectedHost: redirectedHost)
        )
    }

    // MARK: The body

    /// The part of the resource that the body contains.
    var kind: RangeAnswer.Kind {
        switch status {
        case 200:
            // With two different lengths the end of the message is unknown (RFC 9112 §6.3).
            guard !contradictsItsLength else { return .refused(status: 200) }
            // The stated length counts the encoded bytes, or includes the titles between the bytes of music.
            guard !isEncoded, titleInterval == nil else { return .whole(length: nil) }
            // No disk could store more, and sums could overflow.
            if let contentLength, contentLength > ContentRange.largest { return .refused(status: 200) }
            return .whole(length: contentLength)
        case 206:
            // Several ranges in one body were not requested, and their offsets are unknown without parsing
            // the body. The range of an encoded part counts encoded bytes, and that of a part with titles
            // includes the titles: the decoded bytes would be stored at wrong offsets.
            guard contentType != "multipart/byteranges", !isEncoded, fields.values("icy-metaint").isEmpty,
                case .part(let range, let total)? = contentRange
            else { return .refused(status: 206) }
            return .part(range: range, total: total)
        case 304:
            return .notModified
        case 416:
            guard case .unsatisfied(let total)? = contentRange else { return .unsatisfiable(total: nil) }
            return .unsatisfiable(total: total)
        default:
            return .refused(status: status)
        }
    }

    /// The number of body bytes that the response announces; `nil` if it announces none.
    var promisedLength: Int64? {
        switch kind {
        case .part(let range, total: _): range.upperBound - range.lowerBound
        case .whole(let length): length
        case .notModified: 0
        case .unsatisfiable, .refused: nil
        }
    }

    /// The stated length of the body, `Int64.max` if the number does not fit; `nil` if it is missing,
    /// malformed or stated with two different values.
    var contentLength: Int64? {
        // A chunked body ends where its framing says (RFC 9112 §6.3), even if a length is stated.
        guard fields.values("transfer-encoding").isEmpty else { return nil }
        let lengths = Set(fields.tokens("content-length"))
        guard lengths.count == 1, let only = lengths.first else { return nil }
        return ContentRange.number(only)
    }

    private var contradictsItsLength: Bool {
        fields.values("transfer-encoding").isEmpty && Set(fields.tokens("content-length")).count > 1
    }

    private var isEncoded: Bool { fields.tokens("content-encoding").contains { $0 != "identity" } }

    private var contentRange: ContentRange? {
        let values = Set(fields.values("content-range"))
        guard values.count == 1, let only = values.first else { return nil }
        return ContentRange(parsing: only)
    }

    private var contentType: String? {
        guard let value = fields.first("content-type") else { return nil }
        let type = HeaderFields.trimmed(value.prefix { $0 != ";" }).lowercased()
        return type.isEmpty ? nil : type
    }

    // MARK: What to do next

    /// The URL that a redirect points to, as sent; `nil` if the response is no redirect.
    var redirect: String? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        return fields.first("location").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// How long to wait before the next request, as the server states in `Retry-After`: in seconds, or as a
    /// date, which is compared with the server's own `Date` if there is one (RFC 9110 §10.2.3). `nil` if it
    /// is not stated or the response is no error.
    ///
    /// A date in the past counts as zero. The only upper limit is a century; the caller has a lower one.
    private func retryAfter(wallTime: Int64) -> Duration? {
        guard status >= 400, let value = fields.first("retry-after") else { return nil }
        let century: Int64 = 100 * 365 * 86_400
        if let seconds = ContentRange.number(value) { return .seconds(min(seconds, century)) }
        guard let until = HTTPDate.seconds(value) else { return nil }
        let now = fields.first("date").flatMap { HTTPDate.seconds($0) } ?? wallTime
        return .seconds(min(max(0, until - now), century))
    }

    private var validators: Validators {
        // A value that was not UTF-8 cannot be sent back unchanged, so it would never match.
        let present = { (name: String) in
            fields.first(name).flatMap { $0.isEmpty || $0.contains("\u{FFFD}") ? nil : $0 }
        }
        return Validators(etag: present("etag"), lastModified: present("last-modified"))
    }

    func wire(redirectedHost: String?) -> WireFacts {
        var wire = WireFacts()
        wire.status = status
        wire.version = version
        wire.reusedConnection = reusedConnection
        wire.redirectedHost = redirectedHost.map { SafeText($0) }
        return wire
    }

    // MARK: Live streams
    // There is no standard: these fields come from SHOUTcast; Icecast and all other servers adopted them.

    /// The station's description of itself; `nil` if the response is no live stream.
    ///
    /// A body with a stated length has an end, so it is no live stream, even if other fields suggest one.
    var station: Station? {
        guard status == 200, kind == .whole(length: nil), !isEncoded,
            version == Self.icyVersion || fields.hasName(withPrefix: "icy-")
        else { return nil }
        let name = fields.text("icy-name").map { HeaderFields.trimmed($0) }
        return Station(
            name: name.flatMap { $0.isEmpty ? nil : SafeText($0) },
            bytesPerSecond: bytesPerSecond
        )
    }

    /// The number of bytes of music between two titles; `nil` if there are no titles.
    ///
    /// An absurdly large number is accepted: then the first title never arrives.
    var titleInterval: Int64? {
        guard status == 200, !isEncoded else { return nil }
        let values = Set(fields.values("icy-metaint"))
        guard values.count == 1, let only = values.first, let number = ContentRange.number(only), number > 0
        else { return nil }
        return number
    }

    /// `icy-br` counts kilobits per second, and may list one for each quality.
    private var bytesPerSecond: Double? {
        guard let rate = fields.tokens("icy-br").first.flatMap({ ContentRange.number($0) }),
            (1...10_000).contains(rate)
        else { return nil }
        return Double(rate) * 1_000 / 8
    }
}

/// Assembles response heads from header lines, which libcurl delivers one by one.
struct ResponseHeadParser {
    private enum State {
        case beforeStatus
        case inFields(ResponseHead)
        case complete
    }

    /// The limit in bytes up to the end of the final head, including interim responses: four times the limit
    /// of one head, so that no server can send interim responses for ever.
    static let mostBytes = 4 * HeaderFields.mostBytes

    private var state = State.beforeStatus
    private var byteCount = 0

    /// Appends one line with its line end. Returns the final head when the empty line after it arrives.
    ///
    /// Ignores interim responses (1xx), and lines after the final head: those are trailers, which cannot be
    /// relied on (RFC 9110 §6.5.1).
    mutating func append(line: some Collection<UInt8>) throws(HeaderFields.Problem) -> ResponseHead? {
        if case .complete = state { return nil }
        byteCount += line.count
        guard byteCount <= Self.mostBytes else { throw .tooManyBytes }
        switch state {
        case .beforeStatus:
            if let head = Self.statusLine(line) { state = .inFields(head) }
            return nil
        case .inFields(var head):
            guard line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
                try head.fields.append(line: line)
                state = .inFields(head)
                return nil
            }
            guard head.status >= 200 else {
                state = .beforeStatus
                return nil
            }
            state = .complete
            return head
        case .complete:
            return nil
        }
    }

    /// `HTTP/1.1 206 Partial Content`, `HTTP/2 206` or `ICY 200 OK`; `nil` for anything else.
    private static func statusLine(_ line: some Collection<UInt8>) -> ResponseHead? {
        let words = String(decoding: line, as: UTF8.self).split(
            maxSplits: 2,
            whereSeparator: { $0 == " " || $0.isNewline }
        )
        guard words.count >= 2, isVersion(words[0]), let status = Int(words[1]), (100...999).contains(status)
        else { return nil }
        return ResponseHead(status: status, fields: HeaderFields(), version: String(words[0]))
    }

    /// `HTTP/` with a number, or `ICY`.
    private static func isVersion(_ text: Substring) -> Bool {
        guard text != ResponseHead.icyVersion else { return true }
        let number = text.dropFirst(5)
        return text.hasPrefix("HTTP/") && (1...3).contains(number.utf8.count)
            && number.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
