/// Walks the MPEG frames in a stretch of bytes, past tags and junk.
///
/// Pure: it sees what it was given and asks for nothing. The first frame, and every one after junk,
/// must be followed by a consistent header, as four bytes that look like a header are common in
/// compressed audio and pictures.
package struct FrameWalker {
    package struct Frame: Sendable, Equatable {
        /// Index in the walked bytes.
        package var index: Int
        package var header: FrameHeader
        /// Length of the frame with its header.
        package var byteCount: Int
    }

    /// A larger free-format frame is not looked for (the largest frame of any table is 2,881 bytes).
    private static let longestFreeFrame = 4096

    private let bytes: [UInt8]
    private var index: Int
    private var previous: FrameHeader?
    private var freeFormatByteCount: Int?
    /// Bytes passed over that were no frame, tags not counted.
    package private(set) var junkByteCount = 0

    /// Walks `bytes` from `index` on; `like` is a header of the same stream, where one is known.
    package init(_ bytes: [UInt8], from index: Int = 0, like: FrameHeader? = nil) {
        self.bytes = bytes
        self.index = max(0, index)
        reference = like
    }

    /// The stream's known kind; a frame of another kind is junk while searching.
    private let reference: FrameHeader?

    /// The next frame that begins in the bytes; its end may lie behind them. Nil when no more can
    /// be told, which more bytes may change.
    package mutating func next() -> Frame? {
        if let previous, let header = FrameHeader(bytes, at: min(index, bytes.count)),
            header.isConsistent(with: previous), let length = length(of: header)
        {
            return step(over: header, length)
        }
        previous = nil
        let junkBefore = junkByteCount
        while index + FrameHeader.byteCount <= bytes.count {
            if let length = tagLength(isAfterFrame: junkByteCount == junkBefore) {
                index = length > bytes.count - index ? bytes.count : index + length
                continue
            }
            if let header = FrameHeader(bytes, at: index), isConfirmed(header),
                let length = length(of: header)
            {
                return step(over: header, length)
            }
            index += 1
            junkByteCount += 1
        }
        return nil
    }

    private mutating func step(over header: FrameHeader, _ length: Int) -> Frame {
        defer { index += length }
        previous = header
        return Frame(index: index, header: header, byteCount: length)
    }

    private mutating func isConfirmed(_ header: FrameHeader) -> Bool {
        if let reference, !header.isConsistent(with: reference) { return false }
        if header.frameByteCount == nil, freeFormatByteCount == nil {
            freeFormatByteCount = freeLength(of: header)
        }
        guard let length = length(of: header), index + length < bytes.count,
            let follower = FrameHeader(bytes, at: index + length)
        else { return false }
        return follower.isConsistent(with: header)
    }

    private func length(of header: FrameHeader) -> Int? {
        header.frameByteCount ?? freeFormatByteCount.map { $0 + (header.isPadded ? 1 : 0) }
    }

    /// The distance to the next free-format header of the same stream, without padding.
    private func freeLength(of header: FrameHeader) -> Int? {
        let shortest = header.overheadByteCount + 1
        for distance in shortest..<Self.longestFreeFrame {
            guard index + distance + FrameHeader.byteCount <= bytes.count else { return nil }
            if let follower = FrameHeader(bytes, at: index + distance), follower.bitRate == 0,
                follower.isConsistent(with: header)
            {
                return distance - (header.isPadded ? 1 : 0)
            }
        }
        return nil
    }

    /// The length of the ID3 tag that begins at `index`, if one does. Three letters prove little
    /// amid junk, so an ID3v1 tag is only believed where a frame should be.
    private func tagLength(isAfterFrame: Bool) -> Int? {
        guard bytes[index] == UInt8(ascii: "T") || bytes[index] == UInt8(ascii: "I") else { return nil }
        if isAfterFrame, bytes[index...].starts(with: "TAG".utf8) { return ID3v1Tag.byteCount }
        return ID3v2Header(bytes[index...].prefix(ID3v2Header.byteCount))?.tagByteCount
    }
}
