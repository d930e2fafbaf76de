extension Answer {
    /// The answer to `request` for `representation` (nil where there is none), wrong in the ways of `faults`.
    init(to request: RequestHead, with representation: Representation?, faults: [Fault] = []) {
        if request.announcesBody {
            self.init(status: 400, fields: [], body: .none)
            closes = true
        } else if request.method != "GET" && request.method != "HEAD" {
            self.init(status: 405, fields: [HTTPField("Allow", "GET, HEAD")], body: .none)
        } else if let representation {
            self.init(to: request, with: representation, applying: faults)
        } else {
            self = .page(status: 404, text: "There is nothing at \(request.path).\n")
        }
        apply(faults, length: representation?.length)
        finish(request, faults)
    }

    /// A page of the origin's own.
    static func page(status: Int, text: String, type: String = "text/plain") -> Answer {
        Answer(status: status, fields: [HTTPField("Content-Type", type)], body: .page(Array(text.utf8)))
    }

    /// What a right server answers, but for the faults that change what it takes into account.
    private init(to request: RequestHead, with representation: Representation, applying faults: [Fault]) {
        var etag = representation.etag
        var lastModified = representation.lastModified
        for fault in faults {
            switch fault {
            case .noValidators: (etag, lastModified) = (nil, nil)
            case .etag(let value): etag = value
            case .lastModified(let value): lastModified = value
            default: break
            }
        }
        let ignoresRanges = faults.contains(.ignoresRanges)
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

    /// Whether the conditions for a 304 hold (RFC 9110 §13.1.2, §13.1.3); a date must be the same one.
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

    /// Whether `If-Range` allows a 206 (RFC 9110 §13.1.5): only a strong tag or the very date does.
    private static func mayAnswerPart(ifRange: String?, etag: String?, lastModified: String?) -> Bool {
        guard let ifRange else { return true }
        if ifRange.hasPrefix("W/") { return false }
        return ifRange == etag || ifRange == lastModified
    }

    private static func contentRange(_ range: Range<Int64>, total: String) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    }

    private mutating func apply(_ faults: [Fault], length: Int64?) {
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
            // These were taken into account before, or are when the head is finished.
            case .ignoresRanges, .ignoresIfRange, .noValidators, .etag, .lastModified, .contentLength, .field:
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

    private mutating func finish(_ request: RequestHead, _ faults: [Fault]) {
        // HTTP/1.0 knows no chunks.
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
                // What is left would be taken for the next answer.
                closes = true
                if count < length { interruption = interruption ?? .cut(afterBytes: count) }
            case .field(let name, let value): fields.set(name, value)
            default: break
            }
        }
        if !request.keepsConnection { closes = true }
        if closes { fields.set("Connection", "close") }
        if request.method == "HEAD" {
            body = .none
            framing = .length
        }
    }

    private static let portal = "<!DOCTYPE html><title>Sign in</title><p>Sign in to use this network.</p>\n"
}
