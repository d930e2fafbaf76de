/// The head of a request (RFC 9112 §3, §5).
struct RequestHead: Sendable, Equatable {
    /// The longest accepted head; a longer one is answered with 431.
    static let longest = 64 * 1024

    var method: String
    /// As sent.
    var target: String
    /// Decoded, without the query.
    var path: String
    var isVersion1Point0: Bool
    var fields: [HTTPField]

    /// Parses a head without the empty line at its end; `nil` if it is malformed.
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

    /// The query as sent; empty if there is none.
    var query: String {
        target.firstIndex(of: "?").map { target[target.index(after: $0)...].prefix { $0 != "#" } }.map(
            String.init
        )
            ?? ""
    }

    /// `true` if the connection may serve another request after this one (RFC 9112 §9.3).
    var keepsConnection: Bool {
        let options = fields["Connection"]?.lowercased() ?? ""
        return isVersion1Point0 ? options.contains("keep-alive") : !options.contains("close")
    }

    /// `true` if a body follows, which no request to the origin needs.
    var announcesBody: Bool {
        fields["Transfer-Encoding"] != nil || !["0", nil].contains(fields["Content-Length"])
    }

    /// The path of a request target in origin or absolute form, percent-decoded; `nil` if it has none
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

/// A `Range` header with one range of bytes (RFC 9110 §14.1.2, §14.2).
enum RangeField: Sendable, Equatable {
    /// `bytes=A-B`, or `bytes=A-` if `last` is `nil`; `last` is inclusive, as on the wire.
    case from(Int64, last: Int64?)
    /// `bytes=-N`.
    case suffix(Int64)

    /// `nil` for ranges that a server ignores: other units, several ranges, bad syntax, last before first.
    init?(parsing value: String) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, nil): return nil
        case (nil, let count?): self = .suffix(count)
        case (let first?, nil): self = .from(first, last: nil)
        case (let first?, let last?):
            guard first <= last else { return nil }
            self = .from(first, last: last)
        }
    }

    /// The byte range in a resource of `length` bytes; `nil` if it is not satisfiable (416).
    func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(last ?? Int64.max - 1, length - 1) + 1
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }

    /// A number that overflows counts as the largest one.
    private static func number(_ text: Substring) -> Int64? {
        text.isEmpty ? nil : Int64(text) ?? .max
    }
}

/// One header field.
package struct HTTPField: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The value of the first field called `name`, in any case.
    package subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Replaces every field called `name` by one with `value`; `nil` removes them.
    mutating func set(_ name: String, _ value: String?) {
        removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { append(HTTPField(name, value)) }
    }
}
