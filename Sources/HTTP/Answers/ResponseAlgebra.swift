internal import Media

/// What an answer means, as pure functions of its status and header fields (RFC 9110 §13–15).
///
/// The answer decides, never the request: nothing here knows what was asked for.
enum ResponseAlgebra {
    /// Everything a loader needs to know of `head`.
    ///
    /// `redirectedHost` is the host that answered, where it is not the one that was asked first. `wallTime`
    /// is the time of day in seconds since 1970, for servers that tell no date of their own.
    static func answer(
        for head: ResponseHead,
        requestCount: Int,
        redirectedHost: String? = nil,
        wallTime: Int64 = 0
    ) -> RangeAnswer {
        RangeAnswer(
            kind: kind(for: head),
            validators: validators(in: head.fields),
            contentType: contentType(in: head.fields),
            forbidsStoring: head.fields.tokens("cache-control").contains("no-store"),
            isEncoded: isEncoded(head.fields),
            requestCount: requestCount,
            retryAfter: retryAfter(in: head, wallTime: wallTime),
            station: station(for: head),
            wire: wire(of: head, redirectedHost: redirectedHost)
        )
    }

    /// Which bytes of the resource the body is.
    static func kind(for head: ResponseHead) -> RangeAnswer.Kind {
        switch head.status {
        case 200:
            // Where one message ends and the next begins is anyone's guess, and the RFC says not to guess.
            guard !contradictsItsLength(head.fields) else { return .refused(status: 200) }
            // The length counts the bytes before they are unpacked, or titles between those of the music.
            guard !isEncoded(head.fields), titleInterval(in: head) == nil else { return .whole(length: nil) }
            let length = contentLength(in: head.fields)
            // Nobody could store it, and sums with it could overflow.
            if let length, length > ContentRange.largest { return .refused(status: 200) }
            return .whole(length: length)
        case 206:
            // Several ranges in one body were not asked for and cannot be placed without parsing them. A part
            // of an encoded resource counts encoded bytes: among plain ones it would be at a wrong place. So would
            // one with titles in it.
            guard contentType(in: head.fields) != "multipart/byteranges", !isEncoded(head.fields),
                head.fields.values("icy-metaint").isEmpty,
                case .part(let range, let total)? = contentRange(in: head.fields)
            else { return .refused(status: 206) }
            return .part(range: range, total: total)
        case 304:
            return .notModified
        case 416:
            guard case .unsatisfied(let total)? = contentRange(in: head.fields) else {
                return .unsatisfiable(total: nil)
            }
            return .unsatisfiable(total: total)
        default:
            return .refused(status: head.status)
        }
    }

    /// How many body bytes `kind` promises; nil when it promises none.
    static func promisedLength(of kind: RangeAnswer.Kind) -> Int64? {
        switch kind {
        case .part(let range, total: _): range.upperBound - range.lowerBound
        case .whole(let length): length
        case .notModified: 0
        case .unsatisfiable, .refused: nil
        }
    }

    /// Where a redirect leads, as sent; nil when the answer is none.
    static func redirect(in head: ResponseHead) -> String? {
        guard [301, 302, 303, 307, 308].contains(head.status) else { return nil }
        return head.fields.first("location").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The stated length of the body, `Int64.max` for more than fits; nil when it is missing, malformed or
    /// stated differently twice.
    static func contentLength(in fields: HeaderFields) -> Int64? {
        // A body in chunks ends where its framing says (RFC 9112 §6.3), whatever else is stated.
        guard fields.values("transfer-encoding").isEmpty else { return nil }
        let lengths = Set(fields.tokens("content-length"))
        guard lengths.count == 1, let only = lengths.first else { return nil }
        return ContentRange.number(only)
    }

    /// How long the server asks to be left alone: seconds, or a date, which is measured by the server's own
    /// `Date` where it sends one (RFC 9110 §10.2.3). Nil where it does not, or when nothing went wrong.
    ///
    /// A moment in the past is zero. As long as a server likes: the one who waits has a bound.
    static func retryAfter(in head: ResponseHead, wallTime: Int64) -> Duration? {
        guard head.status >= 400, let value = head.fields.first("retry-after") else { return nil }
        let century: Int64 = 100 * 365 * 86_400
        if let seconds = ContentRange.number(value) { return .seconds(min(seconds, century)) }
        guard let until = HTTPDate.seconds(value) else { return nil }
        let now = head.fields.first("date").flatMap { HTTPDate.seconds($0) } ?? wallTime
        return .seconds(min(max(0, until - now), century))
    }

    /// How the answer came.
    static func wire(of head: ResponseHead, redirectedHost: String?) -> WireFacts {
        var wire = WireFacts()
        wire.status = head.status
        wire.version = head.version
        wire.reusedConnection = head.reusedConnection
        wire.redirectedHost = redirectedHost.map { SafeText($0) }
        return wire
    }

    /// Whether the length of the body is stated twice and differently (RFC 9112 §6.3).
    private static func contradictsItsLength(_ fields: HeaderFields) -> Bool {
        fields.values("transfer-encoding").isEmpty && Set(fields.tokens("content-length")).count > 1
    }

    static func isEncoded(_ fields: HeaderFields) -> Bool {
        fields.tokens("content-encoding").contains { $0 != "identity" }
    }

    private static func contentRange(in fields: HeaderFields) -> ContentRange? {
        let values = Set(fields.values("content-range"))
        guard values.count == 1, let only = values.first else { return nil }
        return ContentRange(parsing: only)
    }

    private static func validators(in fields: HeaderFields) -> Validators {
        // A value that was no UTF-8 cannot be sent back as it came, and would never match.
        let present = { (name: String) in
            fields.first(name).flatMap { $0.isEmpty || $0.contains("\u{FFFD}") ? nil : $0 }
        }
        return Validators(etag: present("etag"), lastModified: present("last-modified"))
    }

    private static func contentType(in fields: HeaderFields) -> String? {
        guard let value = fields.first("content-type") else { return nil }
        let type = HeaderFields.trimmed(value.prefix { $0 != ";" }).lowercased()
        return type.isEmpty ? nil : type
    }
}
