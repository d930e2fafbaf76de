import Media

/// Divides the bytes of a FLAC stream into frames. Pure.
///
/// A frame states its position but not its length: it ends at the header with the next position. If no such
/// header is found, the frames up to the next two consistent headers count as missing, so that the music
/// keeps its length.
struct FLACFrameWalk {
    enum Step: Equatable {
        /// A frame, and where its bytes are in `bytes` until more are appended. They may be damaged, and the
        /// range may extend beyond the frame.
        case frame(FLACFrameHeader, Range<Int>)
        /// The number of PCM frames that are missing here.
        case missing(FrameCount)
        /// Another stream begins at this offset: with a frame if its properties are given, else with a head.
        case turn(Int64, FLACStreamInfo?)
        /// More bytes are needed, or `finish`.
        case needMore
        case end
    }

    private(set) var stream: FLACStreamInfo
    /// The bytes that no step has covered yet, and some that steps have covered.
    private(set) var bytes: [UInt8] = []
    /// The offset of `bytes` in the resource.
    private(set) var offset: Int64
    /// The index of the current frame; without one, that from which the search continues.
    private var index = 0
    /// The current frame; `nil` while one is looked for.
    private var current: FLACFrameHeader?
    /// The index up to which no header continues the current frame.
    private var searched = 0
    /// The position of the next frame; `nil` if the first frame may have any position.
    private(set) var position: FrameCount?
    /// The frame before it; `nil` before the first frame of the walk.
    private var previous: FLACFrameHeader?
    private var isWhole = false
    private var isFinished = false
    /// The offset at which the search for the expected frame began; `nil` while there is none.
    private var gapStart: Int64?
    /// `false` after a gap that skips more positions than its bytes can have held.
    private(set) var isContinuous = true
    /// The first and the last frame, for the mean rate.
    private var first: PlaceTable.Place?
    private var last: PlaceTable.Place?

    /// A walk from `offset`, where the frame at `position` is expected; `nil` if it may be any frame.
    init(_ stream: FLACStreamInfo, at offset: Int64, expecting position: FrameCount?) {
        self.stream = stream
        self.offset = offset
        self.position = position
    }

    var endOffset: Int64 { offset + Int64(bytes.count) }

    mutating func append(_ more: [UInt8]) {
        offset += Int64(index)
        bytes.removeFirst(index)
        searched = max(0, searched - index)
        index = 0
        // Reserved at once: an array that grows step by step fragments the memory, and a frame of many
        // channels may have megabytes.
        bytes.reserveCapacity(max(stream.longestFrame, bytes.count) + more.count)
        bytes += more
    }

    mutating func finish() { isWhole = true }

    mutating func next() -> Step {
        if isFinished { return .end }
        guard let frame = current else { return search() }
        let limit = index + stream.longestFrame
        while let (place, header) = header(from: max(searched, index + frame.byteCount)), place <= limit {
            searched = place + 1
            if header.follows(frame), header.position == frame.end || !stream.hasEqualBlocks {
                if header.position != frame.end { stream.numbersVaryingBlocks = true }
                return pass(frame, upTo: place, next: header.moved(to: frame.end))
            }
            // Bytes that look like the header of an earlier position are not a header.
            if header.statedPosition > frame.statedPosition, header.position >= frame.end {
                return pass(frame, upTo: place, next: nil)
            }
        }
        searched = max(searched, min(limit, bytes.count - FLACFrameHeader.mostBytes + 1))
        guard bytes.count >= limit + FLACFrameHeader.mostBytes || isWhole else { return .needMore }
        return pass(frame, upTo: min(limit, bytes.count), next: nil)
    }

    /// Ends the current frame at `end`, where `next` begins. If `next` is `nil`, the search continues within
    /// the frame's bytes.
    private mutating func pass(_ frame: FLACFrameHeader, upTo end: Int, next: FLACFrameHeader?) -> Step {
        let range = index..<end
        let place = PlaceTable.Place(position: frame.position, offset: offset + Int64(index))
        first = first ?? place
        last = place
        position = frame.end
        previous = frame
        current = next
        index = next == nil ? index + frame.byteCount : end
        searched = index
        return .frame(frame, range)
    }

    /// Looks for a frame at the expected position or, after damage, for a later one that the following header
    /// confirms.
    private mutating func search() -> Step {
        let gapStart = self.gapStart ?? offset + Int64(index)
        self.gapStart = gapStart
        while true {
            let own = self.header(from: index)
            if let turn = turn(upTo: own?.place ?? bytes.count) { return turn }
            guard let (place, found) = own else { break }
            index = place
            let header = positioned(found)
            let isLate = header.position > (position ?? header.position)
            if isLate {
                let following = self.header(from: place + header.byteCount)
                guard following != nil || isWhole || bytes.count - place > stream.longestFrame else {
                    return .needMore
                }
                // If frames follow, the total that the stream states bounds nothing.
                let isLast = isWhole && header.end <= stream.frameCount ?? .max
                guard following.map({ $0.header.follows(found) }) ?? isLast else {
                    index += 1
                    continue
                }
            } else if header.position < (position ?? 0) {
                index += 1
                continue
            }
            let missing = missing(before: header, after: offset + Int64(place) - gapStart)
            self.gapStart = nil
            current = header
            searched = place
            position = header.position
            return missing > 0 ? .missing(missing) : next()
        }
        index = max(index, bytes.count - FLACFrameHeader.mostBytes + 1)
        // A resource that has a head but no frame is not downloaded to its end.
        if first == nil, position ?? 0 == 0, endOffset - gapStart > ByteWindow.mostForeignBytes {
            isWhole = true
        }
        guard isWhole else { return .needMore }
        isFinished = true
        let missing = missingAtEnd
        return missing > 0 ? .missing(missing) : .end
    }

    /// Looks from `index` to `end`, where no frame of the stream is expected to begin, for the start of
    /// another stream: a head, or a frame of another format that the next one confirms.
    private mutating func turn(upTo end: Int) -> Step? {
        var place = index
        while place < end,
            let start = bytes[place..<end].firstIndex(where: { $0 == 0xFF || $0 == FLACHead.mark[0] })
        {
            place = start + 1
            let rest = bytes.count - start
            if bytes[start] == FLACHead.mark[0] {
                guard bytes[start...].prefix(4).elementsEqual(FLACHead.mark.prefix(rest)) else { continue }
                if FLACHead.isStart(bytes[start...]) { return .turn(offset + Int64(start), nil) }
                if rest >= FLACHead.leastByteCount || isWhole { continue }
            } else {
                guard rest >= FLACFrameHeader.mostBytes || isWhole else { break }
                let found = bytes.withUnsafeBytes {
                    FLACFrameHeader($0, at: start, in: stream, inAnyFormat: true)
                }
                guard let found, let other = stream.changed(to: found) else { continue }
                let following = FLACFrameHeader.first(
                    in: bytes,
                    from: start + found.byteCount,
                    isWhole: isWhole,
                    of: other
                )
                if following?.header.follows(found) == true { return .turn(offset + Int64(start), other) }
                if following != nil || isWhole || rest > other.longestFrame { continue }
            }
            index = start
            return .needMore
        }
        return nil
    }

    /// `header` at the position that the frames before it give it, if it states none.
    private func positioned(_ header: FLACFrameHeader) -> FLACFrameHeader {
        guard stream.numbersVaryingBlocks, !header.isVariable, let position else { return header }
        guard let previous else { return header.moved(to: position) }
        // The blocks that are missing have unknown sizes: the mean of those before them is the best guess.
        let mean = min(position / (previous.number + 1), FrameCount(stream.largestBlock))
        let guess = position + (header.number - previous.number - 1) * mean
        let latest = stream.frameCount.map { max(position, $0 - FrameCount(header.count)) } ?? guess
        return header.moved(to: min(guess, latest))
    }

    /// The number of missing PCM frames before `header`, which was found `byteCount` bytes after the expected
    /// place.
    ///
    /// A stream of known length keeps its length. In any other stream, such as a broadcast, and behind a
    /// stated length, the number is limited to what the bytes can have held: the positions may be those of
    /// another broadcast, days later.
    private mutating func missing(before header: FLACFrameHeader, after byteCount: Int64) -> FrameCount {
        let missing = header.position - (position ?? header.position)
        guard header.end > stream.frameCount ?? 0 else { return missing }
        let frames = byteCount / Int64(FLACFrameHeader.fewestBytes) + 4
        let most = frames * FrameCount(stream.largestBlock)
        if missing > most { isContinuous = false }
        return min(missing, most)
    }

    /// The number of PCM frames that the damaged end of the resource has held. A file that was cut lacks
    /// their bytes too, so its music ends at the cut: 0.
    private var missingAtEnd: FrameCount {
        guard let total = stream.frameCount, let position, let first, let last, position < total else {
            return 0
        }
        let missing = total - position
        if missing <= FrameCount(stream.largestBlock) { return missing }
        guard last.position > first.position else { return 0 }
        let rate = Double(last.offset - first.offset) / Double(last.position - first.position)
        let wanted = Double(total - last.position) * rate
        return Double(endOffset - last.offset) * 2 > wanted ? missing : 0
    }

    private func header(from index: Int) -> (place: Int, header: FLACFrameHeader)? {
        FLACFrameHeader.first(in: bytes, from: index, isWhole: isWhole, of: stream)
            .map { (place: $0.index, header: $0.header) }
    }
}
