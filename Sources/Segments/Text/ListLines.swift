internal import Glibc
import Media

/// A line of a playlist without the white space around it, and its place in the list.
struct ListLine {
    /// Valid only during the call that passes the line on.
    let text: ByteText
    /// The offsets of the line in the list, from its first byte to its line feed.
    let range: Range<Int>

    /// The text after `tag` and a colon; `nil` if the line is another tag.
    func value(of tag: StaticString) -> ByteText? {
        let length = tag.utf8CodeUnitCount
        guard text.starts(with: tag), text.count > length, text[length] == UInt8(ascii: ":") else {
            return nil
        }
        return text.piece(length + 1..<text.count).trimmed
    }
}

/// A part of a parser that is passed one line after another.
protocol LineReader {
    mutating func read(_ line: ListLine) throws(MediaError)
}

/// Cuts the text of a list that arrives in pieces into lines (RFC 8216 §4.1). LF and CRLF end a line.
///
/// Holds at most one line. Of a line longer than `longest` only the beginning is passed on; no URL that is
/// accepted is that long.
struct ListLines {
    static let longest = 32_768

    /// The length of the pieces received.
    private(set) var byteCount = 0
    /// The beginning of a line that ends in a piece that has not arrived.
    private var begun: [UInt8] = []
    private var lineStart = 0

    /// Passes each line that ends within `piece` to `reader`; blank ones are left out.
    mutating func feed(_ piece: ByteText, to reader: inout some LineReader) throws(MediaError) {
        var start = 0
        while let base = piece.baseAddress, start < piece.count {
            let found = memchr(base + start, 0x0A, piece.count - start)
            let end = found.map { UnsafeRawPointer(base).distance(to: $0) } ?? piece.count
            let part = piece.piece(start..<end)
            if found != nil, begun.isEmpty {
                try pass(part.piece(0..<min(part.count, Self.longest)), end: byteCount + end, to: &reader)
            } else {
                begun.append(contentsOf: part.prefix(Self.longest - begun.count))
                if found != nil { try passBegun(end: byteCount + end, to: &reader) }
            }
            start = end + 1
        }
        byteCount += piece.count
    }

    /// Passes on the last line, which may lack its line feed.
    mutating func finish(_ reader: inout some LineReader) throws(MediaError) {
        try passBegun(end: byteCount, to: &reader)
    }

    private mutating func passBegun(end: Int, to reader: inout some LineReader) throws(MediaError) {
        let line = begun
        begun.removeAll()
        try line.withUnsafeBufferPointer { (text) throws(MediaError) in
            try pass(text, end: end, to: &reader)
        }
    }

    private mutating func pass(
        _ line: ByteText,
        end: Int,
        to reader: inout some LineReader
    ) throws(MediaError) {
        let text = (lineStart == 0 ? line.withoutByteOrderMark : line).trimmed
        let range = lineStart..<max(lineStart, end)
        lineStart = end + 1
        if !text.isEmpty { try reader.read(ListLine(text: text, range: range)) }
    }
}

extension LineReader {
    /// Reads all lines of `bytes`.
    mutating func readAll(_ bytes: [UInt8]) throws(MediaError) {
        var lines = ListLines()
        try bytes.withUnsafeBufferPointer { (piece) throws(MediaError) in
            try lines.feed(piece, to: &self)
        }
        try lines.finish(&self)
    }
}
