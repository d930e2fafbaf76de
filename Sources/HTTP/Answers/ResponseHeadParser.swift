/// Makes heads out of header lines, as libcurl hands them over one by one.
struct ResponseHeadParser {
    private enum State {
        case beforeStatus
        case inFields(ResponseHead)
        case complete
    }

    private var state = State.beforeStatus

    /// Takes one line with its line end; returns the final head when its empty line comes.
    ///
    /// Interim answers (1xx) are passed over. What comes after the final head are trailers, which
    /// nobody may rely on (RFC 9110 §6.5.1), so they are passed over, too.
    mutating func append(line: some Collection<UInt8>) throws(HeaderFields.Problem) -> ResponseHead? {
        switch state {
        case .beforeStatus:
            if let head = Self.statusLine(line) { state = .inFields(head) }
            return nil
        case .inFields(var head):
            guard line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
                try head.fields.append(line: line)
                state = .inFields(head)
                return nil
            }
            guard head.status >= 200 else {
                state = .beforeStatus
                return nil
            }
            state = .complete
            return head
        case .complete:
            return nil
        }
    }

    /// `HTTP/1.1 206 Partial Content` or `HTTP/2 206`; nil for anything else.
    private static func statusLine(_ line: some Collection<UInt8>) -> ResponseHead? {
        let words = String(decoding: line, as: UTF8.self).split(
            maxSplits: 2,
            whereSeparator: { $0 == " " || $0.isNewline }
        )
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]),
            (100...999).contains(status)
        else { return nil }
        return ResponseHead(
            status: status,
            fields: HeaderFields(),
            isMultiplexed: !words[0].hasPrefix("HTTP/0") && !words[0].hasPrefix("HTTP/1")
        )
    }
}
