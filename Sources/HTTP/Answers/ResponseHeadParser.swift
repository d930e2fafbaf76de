/// Makes heads out of header lines, as libcurl hands them over one by one.
struct ResponseHeadParser {
    private enum State {
        case beforeStatus
        case inFields(ResponseHead)
        case complete
    }

    /// Bytes up to the end of the final head, interim answers included. Four times what the fields of one
    /// head may have, so that nobody can send interim answers for ever.
    static let mostBytes = 4 * HeaderFields.mostBytes

    private var state = State.beforeStatus
    private var byteCount = 0

    /// Takes one line with its line end; returns the final head when its empty line comes.
    ///
    /// Interim answers (1xx) are passed over. What comes after the final head are trailers, which
    /// nobody may rely on (RFC 9110 §6.5.1), so they are passed over, too.
    mutating func append(line: some Collection<UInt8>) throws(HeaderFields.Problem) -> ResponseHead? {
        if case .complete = state { return nil }
        byteCount += line.count
        guard byteCount <= Self.mostBytes else { throw .tooManyBytes }
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

    /// `HTTP/1.1 206 Partial Content`, `HTTP/2 206` or `ICY 200 OK`; nil for anything else.
    private static func statusLine(_ line: some Collection<UInt8>) -> ResponseHead? {
        let words = String(decoding: line, as: UTF8.self).split(
            maxSplits: 2,
            whereSeparator: { $0 == " " || $0.isNewline }
        )
        guard words.count >= 2, isVersion(words[0]), let status = Int(words[1]), (100...999).contains(status)
        else { return nil }
        return ResponseHead(status: status, fields: HeaderFields(), version: String(words[0]))
    }

    /// `HTTP/` with a number, or `ICY`.
    private static func isVersion(_ text: Substring) -> Bool {
        guard text != ResponseHead.icyVersion else { return true }
        let number = text.dropFirst(5)
        return text.hasPrefix("HTTP/") && (1...3).contains(number.utf8.count)
            && number.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
