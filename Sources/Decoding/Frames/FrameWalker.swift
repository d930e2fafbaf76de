import Media

/// Finds the MPEG frames in bytes from an unknown position in the stream, skipping tags and junk. Pure.
///
/// The first frame, and every one after junk, must begin a run of consistent frames (`FrameRun`), since four bytes
/// that look like a header are common in compressed audio and pictures. In a stream that is known already, one more
/// frame suffices.
package struct FrameWalker: Sequence, IteratorProtocol {
    package struct Frame: Sendable, Equatable {
        /// Index in the walked bytes.
        package var index: Int
        package var header: FrameHeader
        /// Length of the frame with its header.
        package var byteCount: Int
    }

    /// The shortest free-format frame: 8 kbit/s at 48 kHz.
    private static let shortestFree = 24

    private let bytes: [UInt8]
    /// A header of the stream, if known; frames of another kind count as junk while searching.
    private let reference: FrameHeader?
    /// `true` if the resource ends with the bytes.
    private let isWhole: Bool
    private var index = 0
    private var previous: FrameHeader?
    private var freeFormatByteCount: Int?

    /// Walks `bytes`; `like` is a header of the same stream, if one is known. `isWhole` states that the
    /// resource ends with `bytes`, so that the last frames of a short one count.
    package init(_ bytes: [UInt8], like: FrameHeader? = nil, isWhole: Bool = false) {
        self.bytes = bytes
        reference = like
        self.isWhole = isWhole
    }

    /// The next frame that begins in the bytes; it may end beyond them. `nil` if these bytes do not confirm
    /// another frame; with more bytes there may be one.
    package mutating func next() -> Frame? {
        if let previous, let header = FrameHeader(bytes, at: Swift.min(index, bytes.count)),
            header.isConsistent(with: previous), let length = header.byteCount(ifFree: freeFormatByteCount)
        {
            return step(over: header, length)
        }
        previous = nil
        var isAfterFrame = true
        while index + FrameHeader.byteCount <= bytes.count {
            if let length = tagLength(at: index, isAfterFrame: isAfterFrame) {
                index = length > bytes.count - index ? bytes.count : index + length
                continue
            }
            if let header = FrameHeader(bytes, at: index), isConfirmed(header, isAtStart: isAfterFrame),
                let length = header.byteCount(ifFree: freeFormatByteCount)
            {
                return step(over: header, length)
            }
            index += 1
            isAfterFrame = false
        }
        return nil
    }

    private mutating func step(over header: FrameHeader, _ length: Int) -> Frame {
        defer { index += length }
        previous = header
        return Frame(index: index, header: header, byteCount: length)
    }

    /// `true` if the frame at `index` begins a run of frames. `isAtStart` states that only tags precede it.
    private mutating func isConfirmed(_ header: FrameHeader, isAtStart: Bool) -> Bool {
        if let reference, !header.isConsistent(with: reference) { return false }
        var count = reference == nil ? FrameRun.length : 2
        var free = freeFormatByteCount
        if header.bitRate == 0, free == nil {
            if reference == nil { count = FrameRun.freeFormatLength }
            free = freeLength(of: header, at: index)
            if let free, free < Swift.max(Self.shortestFree, header.overheadByteCount + 1) { return false }
        }
        let isRun = FrameRun.isConfirmed(
            count,
            from: index,
            in: bytes,
            isWhole: isWhole,
            isAtStart: isAtStart
        ) {
            frameEnd(at: $0, like: header, free: free)
        }
        if isRun { freeFormatByteCount = free }
        return isRun
    }

    /// The index after the frame at `place` and the tags that follow it; `nil` if it is no frame like `first`.
    private func frameEnd(at place: Int, like first: FrameHeader, free: Int?) -> Int? {
        guard let header = FrameHeader(bytes, at: place), header.isConsistent(with: first),
            let length = header.byteCount(ifFree: free)
        else { return nil }
        // A free-format frame ends at the next header, wherever that is.
        if header.bitRate == 0, let nearest = freeLength(of: header, at: place), nearest != free {
            return nil
        }
        var end = place + length
        while end < bytes.count, let tag = tagLength(at: end, isAfterFrame: true) { end += tag }
        return end
    }

    /// The distance from the free-format header at `place` to the next one of the same stream, without padding.
    private func freeLength(of header: FrameHeader, at place: Int) -> Int? {
        let last = Swift.min(place + FrameHeader.longestFrame, bytes.count - FrameHeader.byteCount + 1)
        for next in stride(from: place + FrameHeader.byteCount, to: last, by: 1) where bytes[next] == 0xFF {
            if let follower = FrameHeader(bytes, at: next), follower.bitRate == 0,
                follower.isConsistent(with: header)
            {
                return next - place - (header.isPadded ? 1 : 0)
            }
        }
        return nil
    }

    /// The length of the tag at `index`, ID3 or APE; `nil` if there is none. The three letters `TAG` can occur in
    /// junk by chance, and the footer of an APE tag looks like its header, so both are accepted only after a frame.
    private func tagLength(at index: Int, isAfterFrame: Bool) -> Int? {
        switch bytes[index] {
        case UInt8(ascii: "T"):
            return isAfterFrame && bytes[index...].starts(with: "TAG".utf8) ? ID3v1Tag.byteCount : nil
        case UInt8(ascii: "I"):
            return ID3v2Header(bytes[index...].prefix(ID3v2Header.byteCount))?.tagByteCount
        case UInt8(ascii: "A"):
            guard isAfterFrame, bytes[index...].starts(with: APETag.mark) else { return nil }
            return APETag.byteCount(ofHeader: Array(bytes[index...].prefix(APETag.byteCount))).map(Int.init)
        default: return nil
        }
    }
}

/// Numbers the frames of a stream from a known one on. The bytes are passed in slices. Pure.
///
/// It follows the rules of libmpg123 (`parse.c`), so that frame numbers match those of decoding. A frame is
/// followed by a frame, a tag, which is skipped, or junk. After junk, the next frame begins at the first four
/// bytes that are accepted as a header. If that frame is of another kind, or anything else is in doubt, the
/// scan is *lost* and stops.
package struct FrameScan: Sendable, Equatable {
    /// The number of bytes at `offset` that suffices for any step: the length of an APE tag's header.
    package static let reach = 32
    /// The number of junk bytes after which the reference decoder gives up.
    private static let mostJunk = 65_536
    /// The longest frame that libmpg123 accepts (`MAXFRAMESIZE`), without its header.
    private static let longestBody = 3_456

    /// The number of the next frame.
    package private(set) var number: Int64
    /// The offset at which the next slice must begin. It can lie within the last slice, at its end, or beyond
    /// it.
    package private(set) var offset: Int64
    /// The offset after the last frame; `nil` before the first.
    package private(set) var lastFrameEnd: Int64?
    /// `true` if nothing after `offset` can be determined.
    package private(set) var isLost = false

    private let header: FrameHeader
    private let freeByteCount: Int?
    /// The number of junk bytes since the last frame; `nil` directly after a frame.
    private var junk: Int?

    /// Starts at frame `number`, which begins at `offset`, in a stream of frames like `header`. Free-format
    /// frames are `freeByteCount` bytes long without padding.
    package init(fromFrame number: Int64, at offset: Int64, like header: FrameHeader, freeByteCount: Int?) {
        self.number = number
        self.offset = offset
        self.header = header
        self.freeByteCount = freeByteCount
    }

    /// The number of frames of the stream if it ends at `end`; `nil` while the scan has not reached `end`.
    package func frameCount(endingAt end: Int64) -> Int64? {
        guard !isLost, offset + Int64(FrameHeader.byteCount) > end else { return nil }
        // A truncated frame is never decoded.
        return (lastFrameEnd ?? 0) > end ? number - 1 : number
    }

    /// Scans `bytes`, which begin at `offset`, and calls `found` with every frame that begins in them.
    ///
    /// If this leaves `offset` unchanged, the next step needs more bytes.
    package mutating func scan(_ bytes: [UInt8], found: (_ number: Int64, _ offset: Int64) -> Void) {
        let start = offset
        bytes.withUnsafeBufferPointer { bytes in
            while !isLost {
                let index = offset - start
                guard index + Int64(FrameHeader.byteCount) <= Int64(bytes.count) else { return }
                guard step(bytes, Int(index), found) else { return }
            }
        }
    }

    /// Takes one step at `index`; `false` if it needs more bytes.
    private mutating func step(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ index: Int,
        _ found: (Int64, Int64) -> Void
    ) -> Bool {
        let raw = (0..<FrameHeader.byteCount).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[index + $1]) }
        if FrameHeader.passes(raw) {
            guard let next = FrameHeader(raw), next.isConsistent(with: header),
                let length = next.byteCount(ifFree: freeByteCount),
                length - FrameHeader.byteCount <= Self.longestBody
            else {
                isLost = true
                return true
            }
            // libmpg123 treats the header of a frame too short for its own side information as junk.
            if next.layer == 3, length < next.overheadByteCount {
                stepOverJunk()
                return true
            }
            found(number, offset)
            number += 1
            offset += Int64(length)
            lastFrameEnd = offset
            junk = nil
            return true
        }
        // Tags are only recognised directly after a frame: in junk their letters can occur by chance.
        guard junk == nil else {
            stepOverJunk()
            return true
        }
        let rest = bytes[index...].prefix(Self.reach)
        if raw >> 8 == 0x54_4147 {
            offset += Int64(ID3v1Tag.byteCount)
        } else if raw >> 8 == 0x49_4433 {
            guard rest.count >= ID3v2Header.byteCount else { return false }
            guard let tag = ID3v2Header(Array(rest)[...]), !tag.hasFooter else {
                isLost = true
                return true
            }
            offset += Int64(tag.tagByteCount)
        } else if raw == 0x4150_4554 {
            guard rest.count >= Self.reach else { return false }
            guard let length = APETag.byteCount(ofHeader: Array(rest)) else {
                stepOverJunk()
                return true
            }
            offset += length
        } else {
            stepOverJunk()
        }
        return true
    }

    private mutating func stepOverJunk() {
        let count = (junk ?? 0) + 1
        junk = count
        offset += 1
        if count >= Self.mostJunk { isLost = true }
    }
}
