/// Cuts bytes into lines; knows nothing of where they come from.
struct LineSplitter: Sendable {
    /// More than any path or URL; a longer line is cut off and counted as one that is no command.
    static let longestByteCount = 64 * 1024

    private var partial: [UInt8] = []
    private var isTooLong = false

    init() {}

    /// Takes bytes as they come and returns the lines that they complete, without their ends (LF or
    /// CRLF). A line that is too long comes as nil.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [String?] {
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

    /// The last line, when the input ended without a line break behind it.
    mutating func finish() -> [String?] {
        partial.isEmpty ? [] : [takeLine()]
    }

    private mutating func takeLine() -> String? {
        defer {
            partial.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !isTooLong else { return nil }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return String(decoding: partial, as: UTF8.self)
    }
}
