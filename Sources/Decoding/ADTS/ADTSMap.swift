import Media

/// A map of an ADTS stream: the places of the packets that were counted from its start, and samples of the
/// length of packets elsewhere. Pure.
///
/// Frames do not state their position, so positions after the last counted packet are estimates.
struct ADTSMap {
    /// A packet, by its number, and the offset of its frame.
    typealias Place = PlaceTable.Place

    /// Consecutive packets with one sample rate and the same channels. Nearly all resources are one part.
    struct Part {
        let header: ADTSHeader
        /// Its first packet, which brings no music: it only overlaps with the next one.
        let first: Place
        /// The time of the music before it.
        let start: Duration

        /// The time at which the frames of packet `number` begin.
        func time(of number: Int64) -> Duration {
            start + header.duration(of: number - first.position - 1)
        }
    }

    /// The most parts whose times are known.
    private static let mostParts = 1_024
    /// More packets than any stream has, but few enough that the number of their frames is far from overflow.
    private static let mostPackets: Int64 = 1 << 40

    /// The parts that were counted; at least one.
    private(set) var parts: [Part]
    /// The offset of the first frame.
    let origin: Int64
    /// The mean length of the first frames.
    let meanLength: Double
    /// Counted packets.
    private(set) var places = PlaceTable()
    /// The packet after the last one that was counted.
    private(set) var counted: Place
    /// The number of all packets; `nil` until they were counted.
    private(set) var packetCount: Int64?
    /// The length of the resource; `nil` if unknown.
    var length: Int64?
    /// Estimates the places of the packets that were not counted.
    private var profile: RateProfile

    /// - Parameter statedPackets: the number of packets that a playlist's duration amounts to; `nil` if it
    ///   states none.
    init(
        _ header: ADTSHeader,
        at origin: Int64,
        meanLength: Double,
        length: Int64?,
        statedPackets: Double? = nil
    ) {
        profile = RateProfile(statedFrames: statedPackets, places: .few)
        self.origin = origin
        self.meanLength = max(1, meanLength)
        self.length = length
        counted = Place(position: 0, offset: origin)
        parts = [Part(header: header, first: counted, start: .zero)]
    }

    /// A walk from `place`, where a frame is expected.
    func walk(at place: Place) -> ADTSWalk {
        ADTSWalk(like: part(of: place.position).header, meanLength: meanLength, at: place.offset)
    }

    /// Records that the packets from `number` to `next` end at `end`, if they follow the counted ones. They
    /// have `header`; `nil` if they are missing.
    mutating func count(_ number: Int64, upTo next: Int64, at end: Int64, like header: ADTSHeader?) {
        guard number == counted.position else { return }
        let last = parts[parts.count - 1]
        if let header, !header.isConsistent(with: last.header), parts.count < Self.mostParts {
            // Tags may come before the frame.
            let first = Place(position: number, offset: end - Int64(header.frameByteCount))
            parts.append(Part(header: header, first: first, start: last.time(of: number)))
        }
        places.record(counted)
        counted = Place(position: next, offset: end)
    }

    /// The stream ends after `count` packets, all of which were counted.
    mutating func ended(after count: Int64) { packetCount = count }

    /// Records that the frames around `offset` have the mean length `length`; 0 if none were found there.
    mutating func sample(_ length: Double, around offset: Int64) {
        profile.sample(length, around: offset - origin)
    }

    /// The offset at which to sample the length of frames next, before a seek beyond the counted packets;
    /// `nil` if no further sample is worth its request.
    var nextSample: Int64? { known.flatMap(profile.nextSample).map { origin + $0 } }

    // MARK: Parts

    /// The part with packet `number`; the last one that was counted for packets after it.
    func part(of number: Int64) -> Part { parts.last { $0.first.position <= number } ?? parts[0] }

    /// The part that is played at `time`; the last one that was counted for later times.
    func part(at time: Duration) -> Part { parts.last { $0.start <= time } ?? parts[0] }

    /// The time at which the frames of packet `number` begin.
    func time(of number: Int64) -> Duration { part(of: number).time(of: number) }

    // MARK: Estimates

    /// The mean length of the counted packets, or of the first ones.
    var countedLength: Double {
        counted.position > 64 ? Double(counted.offset - origin) / Double(counted.position) : meanLength
    }

    /// The number of packets: counted, or estimated by the length of the resource; `nil` if that is unknown.
    var estimatedCount: Int64? {
        if let packetCount { return packetCount }
        guard let known else { return nil }
        let rest = Double(max(0, known.length - known.offset)) / known.mean
        return Int64(min(profile.frameCount(behind: known) ?? Double(known.number) + rest, 1e15))
    }

    /// The counted packets, for estimates of the others; `nil` if the length of the resource is unknown.
    private var known: RateProfile.Known? {
        length.map { length in
            RateProfile.Known(
                number: counted.position,
                offset: counted.offset - origin,
                mean: countedLength,
                length: length - origin
            )
        }
    }

    /// The offset of packet `number`, estimated if it was not counted.
    func offset(of number: Int64) -> Int64 {
        guard number >= counted.position else {
            let start = Place(position: 0, offset: origin)
            return places.offset(of: number, between: start, and: counted)
        }
        if let known, let offset = profile.offset(ofFrame: number, behind: known) { return origin + offset }
        let offset = counted.offset + Int64(min(Double(number - counted.position) * countedLength, 1e15))
        return min(offset, length ?? .max)
    }

    /// The last packet at or before packet `number` whose place is known; `nil` if `number` is after
    /// `counted`.
    func place(before number: Int64) -> Place? {
        if number >= counted.position { return number == counted.position ? counted : nil }
        return places.around(number).below ?? Place(position: 0, offset: origin)
    }

    // MARK: Storing

    /// The counted packets, to be stored with the entry; empty if there are several parts.
    func stored() -> [UInt8] {
        guard parts.count == 1 else { return [] }
        return StoredPlaces(places.places, adding: [packetCount ?? 0, counted.position, counted.offset])
            .bytes(for: key)
    }

    /// Takes what `stored` returned in an earlier session for the same stream; anything else changes nothing.
    /// The numbers may be wrong, but lie within the resource.
    mutating func restore(_ table: [UInt8]) {
        guard let length, let stored = StoredPlaces(table, for: key, adding: 3, before: length),
            let last = stored.places.last
        else { return }
        let count = stored.numbers[0]
        let next = Place(position: stored.numbers[1], offset: stored.numbers[2])
        guard next.position > last.position, next.position < Self.mostPackets, next.offset > last.offset,
            next.offset <= length, count == 0 || count == next.position
        else { return }
        places = PlaceTable(stored)
        counted = next
        packetCount = count > 0 ? count : nil
    }

    private var key: [Int64] { [origin, length ?? 0, Int64(meanLength * 1_024)] }
}

extension ADTSMap: StreamClock {
    var audio: ByteRange? { length.map { origin..<max(origin, $0) } }

    /// An estimate until all packets were counted.
    var duration: Duration? { estimatedCount.map { max(.zero, time(of: $0)) } }

    var isDurationExact: Bool { packetCount != nil }

    var bytesPerSecond: Double { countedLength / parts[parts.count - 1].header.duration(of: 1).seconds }

    func offsets(at shares: [Double]) -> [Int64]? {
        estimatedCount.map { count in shares.map { offset(of: Int64(Double(count) * $0)) } }
    }
}
