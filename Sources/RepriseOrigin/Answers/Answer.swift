/// All that one answer is going to be, decided before its first byte is sent.
struct Answer: Sendable, Equatable {
    enum Body: Sendable, Equatable {
        case none
        /// A page of the origin's own.
        case page([UInt8])
        /// These bytes of the resource.
        case resource(Range<Int64>)
        /// As many bytes as `range` has, which tell the place of the resource, but are this pattern.
        case pattern([UInt8], Range<Int64>)
    }

    enum Framing: Sendable, Equatable {
        /// The body's length is told, or there is no body.
        case length
        case chunked
        /// The connection's end is the body's.
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
    /// Whether the connection ends with this answer.
    var closes = false
    /// Whether no byte at all is sent.
    var isSilent = false
    /// What the status line begins with.
    var protocolName = "HTTP/1.1"
    /// Whether values stand on lines of their own.
    var foldsFields = false

    /// How many bytes the body has.
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
            // A length on a line of its own is more than libcurl takes.
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
