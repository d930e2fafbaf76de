import Media

/// Finds the packets in segments of fragmented MP4, whose bytes come in order: the initialisation section
/// (`ftyp`, `moov`), then fragments (`moof`, `mdat`). Pure.
struct FragmentStream {
    /// The longest `moov` or `moof` that is read.
    private static let longestHead: Int64 = 1 << 20

    /// The bytes that are still needed, and their offset in the segment.
    private var bytes: [UInt8] = []
    private var offset: Int64 = 0
    /// The offset of what comes next.
    private var place: Int64 = 0
    private var movie: (head: MP4Head, track: MP4Track)?
    /// The packets of the fragment that were not passed on yet.
    private var packets: ArraySlice<ByteRange> = []
    /// The time of the first of them, if it was not passed on yet.
    private var time: MediaTime?
    /// The content of the box with packets, while they are passed on.
    private var media: ByteRange?

    mutating func beginSegment() {
        bytes = []
        offset = 0
        place = 0
        packets = []
        media = nil
    }

    mutating func append(_ more: [UInt8]) {
        let done = min(place - offset, Int64(bytes.count))
        bytes.removeFirst(Int(done))
        offset += done
        bytes += more
    }

    mutating func next() throws(Refusal) -> SegmentStep {
        do throws(Refusal) {
            return try step()
        } catch {
            // The rest of the segment is not read.
            place = BoxWalk.farthest
            throw error
        }
    }

    private mutating func step() throws(Refusal) -> SegmentStep {
        while true {
            if let media {
                guard let packet = packets.first, packet.lowerBound < media.upperBound else {
                    self.media = nil
                    place = media.upperBound
                    continue
                }
                guard place <= packet.lowerBound, packet.upperBound <= media.upperBound,
                    (1...MP4Decoder.longestPacket).contains(packet.count)
                else {
                    packets.removeFirst()
                    time = nil
                    return .missing(1)
                }
                let content = held(packet)
                guard content.count == packet.count else {
                    // The bytes before the packet are not needed.
                    place = packet.lowerBound
                    return .needMore
                }
                packets.removeFirst()
                place = packet.upperBound
                defer { time = nil }
                return .packet(content, time)
            }
            guard let box = try box() else { return .needMore }
            switch box.name {
            case "moov":
                guard try whole(box) != nil else { return .needMore }
                return .codec(try readMovie(box))
            case "moof":
                guard let content = try whole(box) else { return .needMore }
                readFragment(content, of: box)
            case "mdat":
                media = box.content
                place = box.content.lowerBound
                continue
            default: break
            }
            place = box.content.upperBound
        }
    }

    /// The box at `place`; `nil` if its head has not come.
    private func box() throws(Refusal) -> Box? {
        var walk = BoxWalk(in: place..<BoxWalk.farthest)
        let head = held(place..<place + Int64(BoxWalk.headByteCount))
        guard head.count >= 8 else { return nil }
        if let box = walk.took(head) { return box }
        guard head.count < BoxWalk.headByteCount else { throw .damaged }
        return nil
    }

    /// The bytes of `range`, as far as they have come.
    private func held(_ range: ByteRange) -> ArraySlice<UInt8> {
        let come = range.clamped(to: offset..<offset + Int64(bytes.count))
        return bytes[Int(come.lowerBound - offset)..<Int(come.upperBound - offset)]
    }

    /// The content of `box`; `nil` if it has not come as a whole.
    private func whole(_ box: Box) throws(Refusal) -> [UInt8]? {
        guard box.content.count <= Self.longestHead else { throw .damaged }
        let content = held(box.content)
        return content.count == box.content.count ? Array(content) : nil
    }

    /// Reads the box `moov`, all of which has come.
    private mutating func readMovie(_ box: Box) throws(Refusal) -> SegmentCodec {
        var head = MP4Head(at: box.offset)
        while let wanted = head.wanted { head.took(Array(held(wanted))) }
        let track = try head.check()
        movie = (head, track)
        place = box.content.upperBound
        return .mp4(head, track)
    }

    private mutating func readFragment(_ content: [UInt8], of box: Box) {
        guard let (head, track) = movie,
            let fragment = Fragment(content, of: box, track: track.id, defaultSize: head.defaultSize)
        else { return }
        packets = fragment.packets[...]
        time = fragment.time.map { MediaTime(time: Duration($0, per: track.timescale)) }
    }
}
