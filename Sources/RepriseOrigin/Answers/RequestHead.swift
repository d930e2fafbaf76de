/// The head of a request (RFC 9112 §3, §5).
struct RequestHead: Sendable, Equatable {
    /// The longest head that is read; a longer one is answered with 431.
    static let longest = 64 * 1024

    var method: String
    /// As sent.
    var target: String
    /// Decoded, without the query.
    var path: String
    var isVersion1Point0: Bool
    var fields: [HTTPField]

    /// Parses a head without the empty line at its end; nil when it is none.
    init?(parsing bytes: some Sequence<UInt8>) {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }[...]
        guard let first = lines.popFirst() else { return nil }
        let words = first.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
            let path = Self.decodedPath(of: words[1])
        else { return nil }
        method = String(words[0])
        target = String(words[1])
        self.path = path
        isVersion1Point0 = words[2] == "HTTP/1.0"
        fields = []
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) }
            fields.append(HTTPField(String(line[..<colon]), String(value[..<(end ?? value.startIndex)])))
        }
    }

    /// The query, as sent; empty where there is none.
    var query: String {
        target.firstIndex(of: "?").map { target[target.index(after: $0)...].prefix { $0 != "#" } }.map(
            String.init
        )
            ?? ""
    }

    /// Whether the connection may serve another request after this one (RFC 9112 §9.3).
    var keepsConnection: Bool {
        let options = fields["Connection"]?.lowercased() ?? ""
        return isVersion1Point0 ? options.contains("keep-alive") : !options.contains("close")
    }

    /// Whether a body follows, which no request to the origin needs.
    var announcesBody: Bool {
        fields["Transfer-Encoding"] != nil || !["0", nil].contains(fields["Content-Length"])
    }

    /// The path of a request target in origin or absolute form, percent-decoded; nil when it has none
    /// or is not UTF-8.
    static func decodedPath(of target: some StringProtocol) -> String? {
        var rest = target[...]
        if let scheme = rest.firstRange(of: "://") {
            rest = rest[scheme.upperBound...]
            rest = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
        }
        let raw = Array(rest.prefix { $0 != "?" && $0 != "#" }.utf8)
        guard raw.first == UInt8(ascii: "/") else { return nil }
        var decoded: [UInt8] = []
        var index = 0
        while index < raw.count {
            if raw[index] == UInt8(ascii: "%") {
                guard index + 2 < raw.count,
                    let high = Character(Unicode.Scalar(raw[index + 1])).hexDigitValue,
                    let low = Character(Unicode.Scalar(raw[index + 2])).hexDigitValue
                else { return nil }
                decoded.append(UInt8(high * 16 + low))
                index += 3
            } else {
                decoded.append(raw[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
