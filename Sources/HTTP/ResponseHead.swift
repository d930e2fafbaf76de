internal import Media

/// The status and header fields of one response, and their meaning (RFC 9110 §13–15).
///
/// Servers are not trusted: a malformed field is dropped. Only the response counts: nothing here depends on
/// what was requested.
struct ResponseHead: Equatable, Sendable {
    private struct Field: Equatable, Sendable {
        /// The name in lower case: names are compared without regard to case (RFC 9110 §5.1).
        var name: String
        var value: String
        /// The value as sent, if it is not UTF-8.
        var foreignBytes: [UInt8]?
    }

    /// The limit of lines of one head: no honest server sends as many, and each takes memory and slows down
    /// every look-up.
    static let mostLines = 200
    /// The limit of the heads of one response with its trailers; interim responses are included, so that no
    /// server can send them for ever. For comparison, servers accept 8 to 64 KiB in a request.
    static let mostBytes = 64 * 1024

    /// The version of a response in SHOUTcast's own protocol, `ICY 200 OK`.
    private static let icyVersion = "ICY"

    let status: Int
    /// `HTTP/1.1`, `HTTP/2`, `ICY`.
    let version: String
    /// `true` if the connection had carried an earlier response; `nil` if unknown.
    let reusedConnection: Bool?
    /// The fields in the order of their arrival.
    private let fields: [Field]

    /// Reads the lines of one head, without the empty line at its end. Ignores lines before the status line;
    /// `nil` if there is none.
    init?(lines: [[UInt8]], reusedConnection: Bool? = nil) {
        var first: (status: Int, version: String)?
        var fields: [Field] = []
        var lastWasDropped = true
        for line in lines {
            let text = String(decoding: line, as: UTF8.self)
            guard first != nil else {
                first = Self.status(in: text)
                continue
            }
            if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
                // Continues the previous line (RFC 9112 §5.2; obsolete, but still sent).
                let more = Self.trimmed(text)
                if !lastWasDropped, Self.isValue(more) { fields[fields.count - 1].value += " " + more }
                continue
            }
            let field = Self.field(in: text, line)
            if let field { fields.append(field) }
            lastWasDropped = field == nil
        }
        guard let first else { return nil }
        (status, version) = first
        self.fields = fields
        self.reusedConnection = reusedConnection
    }

    /// Reads `HTTP/1.1 206 Partial Content`, `HTTP/2 206` or `ICY 200 OK`; `nil` for anything else.
    private static func status(in line: String) -> (status: Int, version: String)? {
        let words = line.split(maxSplits: 2, whereSeparator: { $0 == " " || $0.isNewline })
        guard words.count >= 2, isVersion(words[0]), let number = Int(words[1]), (100...999).contains(number)
        else { return nil }
        return (number, String(words[0]))
    }

    /// `HTTP/` with a number, or `ICY`.
    private static func isVersion(_ text: Substring) -> Bool {
        guard text != icyVersion else { return true }
        let number = text.dropFirst(5)
        return text.hasPrefix("HTTP/") && (1...3).contains(number.utf8.count)
            && number.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }

    /// The field in a line, which is `text` if it is UTF-8; `nil` if it is malformed.
    private static func field(in text: String, _ line: [UInt8]) -> Field? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        let value = trimmed(text[text.index(after: colon)...])
        guard isName(name), isValue(value) else { return nil }
        var field = Field(name: name.lowercased(), value: String(value))
        if value.unicodeScalars.contains("\u{FFFD}"), let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            field.foreignBytes = Array(line[colon...].dropFirst())
        }
        return field
    }

    // MARK: Fields

    /// Every value of `name`, which must be in lower case, in the order of their arrival.
    func values(_ name: String) -> [String] { fields.lazy.filter { $0.name == name }.map(\.value) }

    /// The first value of `name`, which must be in lower case.
    private func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The first value of `name`, which must be in lower case, as text for display. A value that is not UTF-8
    /// is read as Latin-1, the old default (RFC 9110 §5.5).
    private func text(_ name: String) -> String? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return field.foreignBytes.map { LegacyText.string($0) } ?? field.value
    }

    /// The members of all lists of `name` (RFC 9110 §5.6.1), in lower case, without empty ones.
    private func tokens(_ name: String) -> [String] {
        values(name).flatMap { value in
            value.split(separator: ",").map { Self.trimmed($0).lowercased() }.filter { !$0.isEmpty }
        }
    }

    // MARK: The meaning

    /// `true` if the final response is still to come (1xx).
    var isInterim: Bool { status < 200 }

    /// `true` if the connection carries several transfers at once (HTTP/2 and later).
    var isMultiplexed: Bool {
        version.hasPrefix("HTTP/") && !version.hasPrefix("HTTP/0") && !version.hasPrefix("HTTP/1")
    }

    /// All information that a loader needs about the response.
    ///
    /// `redirectedHost` is the host that responded, if the request was redirected to another one. `wallTime`
    /// is the time of day in seconds since 1970, for servers that send no `Date`.
    func answer(requestCount: Int, redirectedHost: String? = nil, wallTime: Int64 = 0) -> RangeAnswer {
        var wire = WireFacts()
        wire.status = status
        wire.version = version
        wire.reusedConnection = reusedConnection
        wire.redirectedHost = redirectedHost.map { SafeText($0) }
        var answer = RangeAnswer(
            kind: kind,
            validators: validators,
            contentType: contentType,
            forbidsStoring: tokens("cache-control").contains("no-store"),
            isEncoded: isEncoded,
            requestCount: requestCount,
            retryAfter: retryAfter(wallTime: wallTime),
            station: station,
            wire: wire
        )
        answer.isFresh = isFresh
        return answer
    }

    // MARK: The body

    /// The part of the resource that the body contains.
    var kind: RangeAnswer.Kind {
        switch status {
        case 200 where !isMislabelledPart:
            // With two different lengths the end of the message is unknown (RFC 9112 §6.3).
            guard !contradictsItsLength else { return .refused(status: 200) }
            // The stated length counts the encoded bytes, or includes the titles between the bytes of music.
            guard !isEncoded, titleInterval == nil else { return .whole(length: nil) }
            // No disk could store more, and sums could overflow.
            if let contentLength, contentLength > ContentRange.largest { return .refused(status: 200) }
            return .whole(length: contentLength)
        case 200, 206:
            // Several ranges in one body were not requested, and their offsets are unknown without parsing
            // the body. The range of an encoded part counts encoded bytes, and that of a part with titles
            // includes the titles: the decoded bytes would be stored at wrong offsets.
            guard contentType != "multipart/byteranges", !isEncoded, values("icy-metaint").isEmpty,
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

    /// `true` if a 200 states that its body is a part of the resource, as some scripts send it. The body is
    /// the whole if `Content-Length` is not that of the part.
    private var isMislabelledPart: Bool {
        guard case .part(let range, let total)? = contentRange,
            range.lowerBound > 0 || range.upperBound != total
        else { return false }
        return contentLength ?? Int64(range.count) == Int64(range.count)
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
        guard values("transfer-encoding").isEmpty else { return nil }
        let lengths = Set(tokens("content-length"))
        guard lengths.count == 1, let only = lengths.first, let length = Int64(digits: only.utf8) else {
            return nil
        }
        return length == 0 && hasStationFields ? nil : length
    }

    /// `true` if the fields are those of a live stream. Its `Content-Length: 0` is no length.
    private var hasStationFields: Bool {
        status == 200 && (version == Self.icyVersion || fields.contains { $0.name.hasPrefix("icy-") })
    }

    private var contradictsItsLength: Bool {
        values("transfer-encoding").isEmpty && Set(tokens("content-length")).count > 1
    }

    /// The registered codings (IANA). With other words in `Content-Encoding`, such as `aws-chunked` or a
    /// charset, the body is taken as it is.
    private static let codings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress",
        "x-gzip", "zstd",
    ]

    private var isEncoded: Bool { tokens("content-encoding").contains { Self.codings.contains($0) } }

    /// The quirks with which to send the request again, if they differ from the `quirks` with which it was
    /// sent. `hasLogin` is `true` if it may have had a user name and a password.
    func quirks(after quirks: ServerQuirks, hasLogin: Bool) -> ServerQuirks {
        var quirks = quirks
        if isEncoded {
            quirks.remove(.namesNoCoding)
        } else if tokens("content-encoding").contains(where: { $0 != "identity" }) {
            quirks.insert(.namesNoCoding)
        }
        if station != nil, tokens("content-length") == ["0"] { quirks.insert(.deniesBody) }
        let challenges = values("www-authenticate").map { $0.lowercased() }
        if status == 401, hasLogin, challenges.contains(where: { $0.contains("digest ") }) {
            quirks.insert(.wantsDigest)
        }
        return quirks
    }

    /// The realm of a challenge that libcurl can answer, `Basic` or `Digest` (RFC 7617, RFC 7616); empty if
    /// it is not stated, `nil` without such a challenge.
    var loginRealm: String? {
        let challenge = values("www-authenticate").lazy.compactMap { value -> Substring? in
            let parts = value.split(separator: ",")
            let start = parts.first { part in
                ["basic", "digest"].contains(part.split(separator: " ").first?.lowercased())
            }
            return start.map { value[$0.startIndex...] }
        }.first
        guard let challenge else { return nil }
        guard let start = challenge.firstRange(of: "realm=\"") ?? challenge.firstRange(of: "Realm=\"") else {
            return ""
        }
        var realm = ""
        var isEscaped = false
        for character in challenge[start.upperBound...] {
            if !isEscaped, character == "\"" { break }
            isEscaped = !isEscaped && character == "\\"
            if !isEscaped { realm.append(character) }
        }
        return realm
    }

    private var contentRange: ContentRange? {
        let values = Set(values("content-range"))
        guard values.count == 1, let only = values.first else { return nil }
        return ContentRange(parsing: only)
    }

    private var contentType: String? {
        guard let value = first("content-type") else { return nil }
        let type = Self.trimmed(value.prefix { $0 != ";" }).lowercased()
        return type.isEmpty ? nil : type
    }

    // MARK: What to do next

    /// The URL that a redirect points to, as sent; `nil` if the response is no redirect.
    var redirect: String? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        return first("location").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// How long to wait before the next request, as the server states in `Retry-After`: in seconds, or as a
    /// date, which is compared with the server's own `Date` if there is one (RFC 9110 §10.2.3). `nil` if it
    /// is not stated or the response is no error.
    ///
    /// A date in the past counts as zero. The only upper limit is a century; the caller has a lower one.
    private func retryAfter(wallTime: Int64) -> Duration? {
        guard status >= 400, let value = first("retry-after") else { return nil }
        let century: Int64 = 100 * 365 * 86_400
        if let seconds = Int64(digits: value.utf8) { return .seconds(min(seconds, century)) }
        guard let until = InternetDate(parsing: value) else { return nil }
        let now = first("date").flatMap { InternetDate(parsing: $0) }?.seconds ?? wallTime
        return .seconds(min(max(0, until.seconds - now), century))
    }

    /// `true` if `Last-Modified` is within a minute of `Date`. Both are the server's, so its clock need not
    /// be right.
    private var isFresh: Bool {
        guard let date = first("date").flatMap({ InternetDate(parsing: $0) }),
            let modified = validators.lastModified.flatMap({ InternetDate(parsing: $0) })
        else { return false }
        return abs(date.seconds - modified.seconds) < 60
    }

    private var validators: Validators {
        // A value that was not UTF-8 cannot be sent back unchanged, so it would never match.
        let present = { (name: String) in
            first(name).flatMap { $0.isEmpty || $0.contains("\u{FFFD}") ? nil : $0 }
        }
        return Validators(etag: present("etag"), lastModified: present("last-modified"))
    }

    // MARK: Live streams
    // There is no standard: these fields come from SHOUTcast; Icecast and all other servers adopted them.

    /// The station's description of itself; `nil` if the response is no live stream.
    ///
    /// A body with a stated length has an end, so it is no live stream, even if other fields suggest one.
    var station: Station? {
        guard kind == .whole(length: nil), !isEncoded, hasStationFields else { return nil }
        let name = text("icy-name").map { Self.trimmed($0) }
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
        let values = Set(values("icy-metaint"))
        guard values.count == 1, let only = values.first, let number = Int64(digits: only.utf8), number > 0
        else { return nil }
        return number
    }

    /// `icy-br` counts kilobits per second, and may list one for each quality.
    private var bytesPerSecond: Double? {
        guard let rate = tokens("icy-br").first.flatMap({ Int64(digits: $0.utf8) }),
            (1...10_000).contains(rate)
        else { return nil }
        return Double(rate) * 1_000 / 8
    }

    // MARK: The syntax of fields

    /// `true` if `text` can be the value of a field: it has no control characters except tabs, and so no line
    /// breaks.
    static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// `true` if `text` is a token (RFC 9110 §5.6.2), as the name of a field must be.
    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
    }

    /// `text` without white space and line ends around it.
    static func trimmed(_ text: some StringProtocol) -> Substring {
        let isSpace = { (scalar: Unicode.Scalar) in " \t\r\n".unicodeScalars.contains(scalar) }
        var scalars = Substring(String(text)).unicodeScalars
        while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        return Substring(scalars)
    }
}
