/// A header field that goes with requests to the origins of the sources. Its value may be a secret, so
/// no message ever quotes it.
struct RequestHeader: Sendable, Equatable {
    var name: String
    var value: String

    /// Parses `Name: value`; nil when the name is no token or the value holds a control character
    /// (RFC 9110 §5.1, §5.5), which could add a line to a request.
    init?(parsing line: some StringProtocol) {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon]
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte),
            value.unicodeScalars.allSatisfy({ $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7F) })
        else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// Parses a file's lines, one field each; empty lines are passed over. Returns the number of the
    /// first line that is none, from 1, in place of the fields.
    static func parse(file text: String) -> Result<[RequestHeader], BadLine> {
        var headers: [RequestHeader] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            guard let header = RequestHeader(parsing: line) else {
                return .failure(BadLine(number: index + 1))
            }
            headers.append(header)
        }
        return .success(headers)
    }

    struct BadLine: Error, Equatable {
        /// From 1.
        var number: Int
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 {
        case true: true
        case false: "0123456789!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
