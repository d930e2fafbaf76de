/// Splits a stream of bytes into lines.
package struct LineSplitter: Sendable {
    /// The limit of a line, longer than any path or URL. A longer line is reported as too long, so that
    /// memory is bounded.
    package static let longestByteCount = 64 * 1024

    private var partial: [UInt8] = []
    private var isTooLong = false

    package init() {}

    /// Adds the next bytes and returns the lines that they complete, without their ends (LF or CRLF); `nil`
    /// for a line that is too long.
    package mutating func append(_ bytes: some Sequence<UInt8>) -> [String?] {
        var lines: [String?] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(takeLine())
            } else if partial.count < Self.longestByteCount {
                partial.append(byte)
            } else {
                isTooLong = true
            }
        }
        return lines
    }

    /// The last line, if the input ended without a line break.
    package mutating func finish() -> [String?] { partial.isEmpty ? [] : [takeLine()] }

    private mutating func takeLine() -> String? {
        defer {
            // The room of a long line is not kept: there may be many splitters.
            partial.removeAll(keepingCapacity: partial.count <= 4096)
            isTooLong = false
        }
        guard !isTooLong else { return nil }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return FileName.text(partial)
    }
}
