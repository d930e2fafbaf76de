/// Follows the frames of a stream, from one that is known, through bytes that come in slices.
///
/// Pure: it sees what it was given and asks for nothing. It goes by the rules of libmpg123 (`parse.c`), so that
/// each frame gets the number that decoding gives it: at a frame's end stands a frame, a tag that is
/// stepped over, or junk, behind which the first four bytes that pass for a header are the next frame. Where
/// that frame is of another kind, or anything else is in doubt, the scan is *lost* and says no more.
package struct FrameScan: Sendable, Equatable {
    /// So many bytes at `offset` let any step be decided: an APE tag's header.
    package static let reach = 32
    /// The bytes of junk after which the reference decoder gives up.
    private static let mostJunk = 65_536
    /// libmpg123 takes no longer frame (`MAXFRAMESIZE`, without the header).
    private static let longestBody = 3_456

    /// The number of the next frame.
    package private(set) var number: Int64
    /// Where the next slice must begin: at most where the last one ended, or beyond it.
    package private(set) var offset: Int64
    /// Where the last frame ends; nil before the first.
    package private(set) var lastFrameEnd: Int64?
    /// Whether nothing behind `offset` can be told.
    package private(set) var isLost = false
    /// Bytes passed over that were no frame and no tag.
    package private(set) var junkByteCount: Int64 = 0

    private let header: FrameHeader
    private let freeByteCount: Int?
    /// The bytes of the junk that the scan is in; nil at a frame's end.
    private var junk: Int?

    /// Begins at frame `number`, which begins at `offset`, in a stream of frames like `header`, in which
    /// free-format frames are `freeByteCount` bytes long without padding.
    package init(fromFrame number: Int64, at offset: Int64, like header: FrameHeader, freeByteCount: Int?) {
        self.number = number
        self.offset = offset
        self.header = header
        self.freeByteCount = freeByteCount
    }

    /// The frames that a stream which ends at `end` has; nil while the scan has not come there.
    package func frameCount(endingAt end: Int64) -> Int64? {
        guard !isLost, offset + Int64(FrameHeader.byteCount) > end else { return nil }
        // What is left of a frame that was cut off is never decoded.
        return (lastFrameEnd ?? 0) > end ? number - 1 : number
    }

    /// Scans `bytes`, which begin at `offset`, and tells `found` of every frame that begins in them.
    ///
    /// Where `offset` is the same afterwards, more bytes than these are needed.
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

    /// Takes one step at `index`; false when more bytes are needed for it.
    private mutating func step(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ index: Int,
        _ found: (Int64, Int64) -> Void
    ) -> Bool {
        let raw = (0..<FrameHeader.byteCount).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[index + $1]) }
        if FrameHeader.passes(raw) {
            switch frameLength(raw) {
            case .frame(let length):
                found(number, offset)
                number += 1
                offset += Int64(length)
                lastFrameEnd = offset
                junk = nil
            case .tooShort: stepOverJunk()
            case .doubtful: isLost = true
            }
            return true
        }
        // Tags are looked for at a frame's end only; amid junk their letters prove nothing.
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
        junkByteCount += 1
        offset += 1
        if count >= Self.mostJunk { isLost = true }
    }

    private enum Length {
        case frame(Int)
        /// Too short for its own side information: libmpg123 passes over such a header as over junk.
        case tooShort
        case doubtful
    }

    private func frameLength(_ raw: UInt32) -> Length {
        guard let found = FrameHeader(raw), found.isConsistent(with: header),
            let length = found.frameByteCount ?? freeByteCount.map({ $0 + (found.isPadded ? 1 : 0) })
        else { return .doubtful }
        if found.layer == 3, length < found.overheadByteCount { return .tooShort }
        return length - FrameHeader.byteCount <= Self.longestBody ? .frame(length) : .doubtful
    }
}
