import HTTP

/// A header field that goes with requests to the origins of the sources. Its value may be a secret, so
/// no message ever quotes it.
struct RequestHeader: Sendable, Equatable {
    var name: String
    var value: String

    /// Parses `Name: value`; nil when it is no header field (RFC 9110 §5.1, §5.5), or one that the
    /// transport has to set itself.
    init?(parsing line: some StringProtocol) {
        guard let header = HTTP.RequestHeader(parsing: line) else { return nil }
        name = header.name
        value = header.value
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
}
