extension Answer {
    /// The answer to `request` for `representation` (nil where there is none), wrong in the ways of `faults`.
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

    static func contentRange(_ range: Range<Int64>, total: String) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    }
}
