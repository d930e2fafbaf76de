/// One answer, planned whole before its first byte is sent.
struct Answer: Sendable, Equatable {
    enum Body: Sendable, Equatable {
        case none
        /// A page of the origin's own.
        case page([UInt8])
        /// These bytes of the resource.
        case resource(Range<Int64>)
        /// This pattern, repeated over `range`, in place of the resource's bytes.
        case pattern([UInt8], Range<Int64>)
    }

    enum Framing: Sendable, Equatable {
        /// `Content-Length` states the body's length, or there is no body.
        case length
        case chunked
        /// The body ends with the connection.
        case untilClose
    }

    enum Interruption: Sendable, Equatable {
        case cut(afterBytes: Int64)
        case stall(afterBytes: Int64)
    }

    var status: Int
    var fields: [HTTPField]
    var body: Body
    var framing = Framing.length
    var interruption: Interruption?
    /// `true` if the connection ends with this answer.
    var closes = false
    /// `true` if not a single byte is sent.
    var isSilent = false
    /// The protocol name at the beginning of the status line.
    var protocolName = "HTTP/1.1"
    /// `true` if field values are folded onto lines of their own.
    var foldsFields = false

    /// The length of the body in bytes.
    var length: Int64 {
        switch body {
        case .none: 0
        case .page(let bytes): Int64(bytes.count)
        case .resource(let range), .pattern(_, let range): range.upperBound - range.lowerBound
        }
    }

    /// The status line and the fields, with the empty line at the end.
    var head: [UInt8] {
        var text = "\(protocolName) \(status) \(Self.reason(status))\r\n"
        for field in fields {
            // libcurl rejects a folded length.
            let isFolded = foldsFields && field.name.lowercased() != "content-length"
            text += field.name + (isFolded ? ":\r\n " : ": ") + field.value + "\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    private static func reason(_ status: Int) -> String {
        reasons[status] ?? "Status \(status)"
    }

    private static let reasons = [
        200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
        416: "Range Not Satisfiable", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 503: "Service Unavailable",
    ]
}

extension Answer {
    /// The answer to `request` for `representation` (`nil` if it does not exist), with `faults` applied.
    init(to request: RequestHead, with representation: Representation?, faults: [Fault] = []) {
        if request.announcesBody {
            self.init(status: 400, fields: [], body: .none)
            closes = true
        } else if request.method != "GET" && request.method != "HEAD" {
            self.init(status: 405, fields: [HTTPField("Allow", "GET, HEAD")], body: .none)
        } else if let refusal = Self.refusal(of: request, by: faults) {
            self = refusal
        } else if let representation {
            self.init(to: request, with: representation, applying: faults)
        } else {
            self = .page(status: 404, text: "There is nothing at \(request.path).\n")
        }
        apply(faults, length: representation?.length)
        if faults.contains(.multipart), status == 206, let representation, case .resource(let range) = body {
            wrapInMultipart(Array(representation.source.bytes(at: range.lowerBound, count: range.count)))
        }
        finish(request, faults)
    }

    /// A page of the origin's own.
    static func page(status: Int, text: String, type: String = "text/plain") -> Answer {
        Answer(status: status, fields: [HTTPField("Content-Type", type)], body: .page(Array(text.utf8)))
    }

    /// The answer of a correct server, except for faults that change what it looks at.
    private init(to request: RequestHead, with representation: Representation, applying faults: [Fault]) {
        var etag = representation.etag
        var lastModified = representation.lastModified
        for fault in faults {
            switch fault {
            case .noValidators:
                etag = nil
                lastModified = nil
            case .etag(let value): etag = value
            case .lastModified(let value): lastModified = value
            default: break
            }
        }
        let ignoresRanges = faults.contains { fault in
            if case .live = fault { return true }
            return fault == .ignoresRanges
        }
        var common: [HTTPField] = []
        if let etag { common.append(HTTPField("ETag", etag)) }
        if let lastModified { common.append(HTTPField("Last-Modified", lastModified)) }
        if !ignoresRanges { common.append(HTTPField("Accept-Ranges", "bytes")) }
        common += representation.headers

        if Self.isUnmodified(request, etag: etag, lastModified: lastModified) {
            self.init(status: 304, fields: common, body: .none)
            return
        }
        common.append(HTTPField("Content-Type", representation.contentType))
        let length = representation.length
        let whole = Answer(status: 200, fields: common, body: .resource(0..<length))
        let ifRange = faults.contains(.ignoresIfRange) ? nil : request.fields["If-Range"]
        guard !ignoresRanges, let field = request.fields["Range"].flatMap(RangeField.init(parsing:)),
            Self.mayAnswerPart(ifRange: ifRange, etag: etag, lastModified: lastModified)
        else {
            self = whole
            return
        }
        guard let range = field.resolved(length: length) else {
            self = .page(status: 416, text: "The resource has \(length) bytes.\n")
            fields.append(HTTPField("Content-Range", "bytes */\(length)"))
            return
        }
        self.init(status: 206, fields: common, body: .resource(range))
        fields.append(HTTPField("Content-Range", Self.contentRange(range, total: "\(length)")))
    }

    /// `true` if the conditions for a 304 hold (RFC 9110 §13.1.2, §13.1.3); a date must be identical.
    private static func isUnmodified(_ request: RequestHead, etag: String?, lastModified: String?) -> Bool {
        if let list = request.fields["If-None-Match"] {
            guard let etag else { return false }
            let opaque = { (tag: Substring) in tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
            let tags = list.split(separator: ",").map { $0.drop { $0 == " " } }
            return tags.contains { $0 == "*" || opaque($0) == opaque(etag[...]) }
        }
        guard let date = request.fields["If-Modified-Since"] else { return false }
        return date == lastModified
    }

    /// `true` if `If-Range` permits a 206 (RFC 9110 §13.1.5): a strong tag or the identical date.
    private static func mayAnswerPart(ifRange: String?, etag: String?, lastModified: String?) -> Bool {
        guard let ifRange else { return true }
        if ifRange.hasPrefix("W/") { return false }
        return ifRange == etag || ifRange == lastModified
    }

    static func contentRange(_ range: Range<Int64>, total: String) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    }
}

// The faults of an answer.
extension Answer {
    /// The refusal that `faults` demand regardless of the path; `nil` if none does.
    static func refusal(of request: RequestHead, by faults: [Fault]) -> Answer? {
        for fault in faults {
            switch fault {
            case .refusesRanges(let status) where request.fields["Range"] != nil:
                return page(status: status, text: "No ranges here.\n")
            case .demandsField(let name, let value) where request.fields[name] != value:
                var answer = page(status: 401, text: "Who are you?\n")
                answer.fields.append(HTTPField("WWW-Authenticate", "Basic realm=\"test\""))
                return answer
            case .demandsQuery(let query, let status) where request.query != query:
                return page(status: status, text: "This address has expired.\n")
            default: break
            }
        }
        return nil
    }

    /// Applies faults to the answer for a resource of `length` bytes, before its head is finished.
    mutating func apply(_ faults: [Fault], length: Int64?) {
        for fault in faults {
            switch fault {
            case .cut(let count): interruption = .cut(afterBytes: count)
            case .stall(let count): interruption = .stall(afterBytes: count)
            case .silence: isSilent = true
            case .status(let code): self = .page(status: code, text: "This is status \(code).\n")
            case .htmlPage: self = .page(status: 200, text: Self.portal, type: "text/html")
            case .redirect(let code, let location):
                self = .page(status: code, text: "It is at \(location).\n")
                fields.append(HTTPField("Location", location))
            case .shiftedRange(let distance): shift(by: distance, length: length ?? 0)
            case .unknownTotal:
                if status == 206, case .resource(let range) = body {
                    fields.set("Content-Range", Self.contentRange(range, total: "*"))
                }
            case .contentRange(let value):
                if status == 206 { fields.set("Content-Range", value) }
            case .otherBytes(let pattern):
                if case .resource(let range) = body, !pattern.isEmpty { body = .pattern(pattern, range) }
            case .chunked: framing = .chunked
            case .closeDelimited: framing = .untilClose
            case .live: if status == 200 { framing = .untilClose }
            case .shortParts(let count): shorten(to: count, length: length ?? 0)
            case .total(let total):
                if status == 206, case .resource(let range) = body {
                    fields.set("Content-Range", Self.contentRange(range, total: "\(total)"))
                }
            case .unsatisfied(let value): if status == 416 { fields.set("Content-Range", value) }
            case .protocolName(let name):
                protocolName = name
                closes = true
                if framing == .chunked { framing = .untilClose }
            // These apply before the answer is planned, or when its head is finished.
            case .ignoresRanges, .ignoresIfRange, .noValidators, .etag, .lastModified, .contentLength, .field,
                .refusesRanges, .multipart, .lengthOff, .gzip, .addedField, .repeatedFields, .lowerCaseFields,
                .foldedFields, .paddedHead, .demandsField, .demandsQuery:
                break
            }
        }
    }

    private mutating func shift(by distance: Int64, length: Int64) {
        guard status == 206, case .resource(let range) = body else { return }
        let start = min(max(0, range.lowerBound + distance), length - 1)
        let shifted = start..<max(start + 1, range.upperBound)
        body = .resource(shifted)
        fields.set("Content-Range", Self.contentRange(shifted, total: "\(length)"))
    }

    private mutating func shorten(to count: Int64, length: Int64) {
        guard status == 206, count > 0, case .resource(let range) = body else { return }
        let short = range.lowerBound..<min(range.upperBound, range.lowerBound + count)
        body = .resource(short)
        fields.set("Content-Range", Self.contentRange(short, total: "\(length)"))
    }

    /// Turns a 206 into a multipart body of one part (RFC 9110 §14.6).
    mutating func wrapInMultipart(_ part: [UInt8]) {
        let range = fields["Content-Range"] ?? ""
        let type = fields["Content-Type"] ?? "application/octet-stream"
        let before = "--PART\r\nContent-Type: \(type)\r\nContent-Range: \(range)\r\n\r\n"
        fields.set("Content-Range", nil)
        fields.set("Content-Type", "multipart/byteranges; boundary=PART")
        body = .page(Array(before.utf8) + part + Array("\r\n--PART--\r\n".utf8))
    }

    /// Adds the fields that describe the body and the connection, and the faults of the head itself.
    mutating func finish(_ request: RequestHead, _ faults: [Fault]) {
        // HTTP/1.0 has no chunked coding.
        if framing == .chunked && request.isVersion1Point0 { framing = .untilClose }
        if status == 304 { framing = .length }
        switch framing {
        case .length: if status != 304 { fields.append(HTTPField("Content-Length", "\(length)")) }
        case .chunked: fields.append(HTTPField("Transfer-Encoding", "chunked"))
        case .untilClose: closes = true
        }
        for fault in faults {
            switch fault {
            case .contentLength(let count):
                fields.set("Content-Length", "\(count)")
                // The client would take the rest for the next answer.
                closes = true
                if count < length { interruption = interruption ?? .cut(afterBytes: count) }
            case .lengthOff(let distance) where framing == .length && status != 304:
                let stated = max(0, length + distance)
                fields.set("Content-Length", "\(stated)")
                closes = true
                if stated < length { interruption = interruption ?? .cut(afterBytes: stated) }
            case .field(let name, let value): fields.set(name, value)
            default: break
            }
        }
        if !request.keepsConnection { closes = true }
        if closes { fields.set("Connection", "close") }
        for fault in faults { applyToHead(fault) }
        if request.method == "HEAD" {
            body = .none
            framing = .length
        }
    }

    private mutating func applyToHead(_ fault: Fault) {
        switch fault {
        case .addedField(let name, let value): fields.append(HTTPField(name, value))
        case .repeatedFields(let count): fields = fields.flatMap { Array(repeating: $0, count: count) }
        case .lowerCaseFields: fields = fields.map { HTTPField($0.name.lowercased(), $0.value) }
        case .foldedFields: foldsFields = true
        case .paddedHead(let bytes):
            let line = 1_000
            for number in 0..<(bytes + line - 1) / line {
                fields.append(HTTPField("X-Padding-\(number)", String(repeating: "x", count: line)))
            }
        default: break
        }
    }

    private static let portal = "<!DOCTYPE html><title>Sign in</title><p>Sign in to use this network.</p>\n"
}
