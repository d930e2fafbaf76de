import Media

/// A map of an ADTS stream: the places of the packets that were counted from its start, and samples of the length of
/// packets elsewhere. Pure.
///
/// Frames do not state their position, so positions behind the last counted packet are estimates.
struct ADTSMap {
    /// A packet, by its number, and the offset of its frame.
    typealias Place = PlaceTable.Place

    /// The mean length of packets around an offset.
    private struct Sample {
        var offset: Int64
        var length: Double
    }

    private static let leastSampled: Int64 = 512 << 10
    /// More packets than any stream has; so many frames are far from overflow.
    private static let mostPackets: Int64 = 1 << 40

    let header: ADTSHeader
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
    private var samples: [Sample] = []

    init(_ header: ADTSHeader, at origin: Int64, meanLength: Double, length: Int64?) {
        (self.header, self.origin, self.meanLength) = (header, origin, max(1, meanLength))
        self.length = length
        counted = Place(position: 0, offset: origin)
    }

    /// A walk from `offset`, where a frame is expected.
    func walk(at offset: Int64) -> ADTSWalk { ADTSWalk(like: header, meanLength: meanLength, at: offset) }

    /// Records that the packets from `number` to `next` end at `end`, if they follow the counted ones.
    mutating func count(_ number: Int64, upTo next: Int64, at end: Int64) {
        guard number == counted.position else { return }
        places.record(counted)
        counted = Place(position: next, offset: end)
    }

    /// The stream ends after packet `count - 1`, up to which all were counted.
    mutating func ended(after count: Int64) { packetCount = count }

    /// Records the mean `length` of the frames around `offset`.
    mutating func sample(_ length: Double, around offset: Int64) {
        samples.append(Sample(offset: offset, length: length))
        samples.sort { $0.offset < $1.offset }
    }

    /// The offsets at which to sample the lengths before a seek behind the counted packets; empty if that was done, or if
    /// the rest is too short to pay for it.
    var unsampled: [Int64] {
        guard samples.isEmpty, let length, length - counted.offset > Self.leastSampled else { return [] }
        // With the start, the middles of three thirds.
        return [3, 5].map { origin + (length - origin) * $0 / 6 }.filter { $0 > counted.offset }
    }

    // MARK: Estimates

    /// Pieces of the resource with one mean length each, from the counted packets to the end.
    private func pieces(to end: Int64) -> [(range: Range<Double>, length: Double)] {
        // The mean length of the counted packets applies to the first third.
        let start = Sample(offset: max(counted.offset, origin + (end - origin) / 6), length: countedLength)
        let known = [start] + samples.filter { $0.offset > start.offset && $0.offset < end }
        var pieces: [(range: Range<Double>, length: Double)] = []
        var low = Double(counted.offset)
        for (index, sample) in known.enumerated() {
            let next = index + 1 < known.count ? (sample.offset + known[index + 1].offset) / 2 : end
            let high = max(low, Double(next))
            pieces.append((low..<high, sample.length))
            low = high
        }
        return pieces
    }

    /// The mean length of the counted packets, or of the first ones.
    var countedLength: Double {
        counted.position > 64 ? Double(counted.offset - origin) / Double(counted.position) : meanLength
    }

    /// The number of packets: counted, or estimated by the length of the resource; `nil` if that is unknown.
    var estimatedCount: Int64? {
        if let packetCount { return packetCount }
        return length.map { position(at: $0) }
    }

    /// The estimated number of the packet at `offset`, which lies behind the counted ones.
    private func position(at offset: Int64) -> Int64 {
        let rest = pieces(to: max(length ?? offset, offset)).reduce(0.0) { sum, piece in
            let end = min(piece.range.upperBound, Double(offset))
            return sum + max(0, end - piece.range.lowerBound) / piece.length
        }
        return counted.position + Int64(min(rest, 1e15))
    }

    /// The offset of packet `number`, estimated if it was not counted.
    func offset(of number: Int64) -> Int64 {
        guard number >= counted.position else {
            let (below, above) = places.around(number)
            let low = below ?? Place(position: 0, offset: origin)
            let high = above ?? counted
            guard high.position > low.position else { return low.offset }
            let share = Double(number - low.position) / Double(high.position - low.position)
            return low.offset + Int64(Double(high.offset - low.offset) * share)
        }
        var rest = Double(number - counted.position)
        guard let length else { return counted.offset + Int64(min(rest * meanLength, 1e15)) }
        for piece in pieces(to: length) {
            let count = (piece.range.upperBound - piece.range.lowerBound) / piece.length
            if rest <= count { return Int64(piece.range.lowerBound + rest * piece.length) }
            rest -= count
        }
        return length
    }

    /// The last counted packet at or before packet `number` whose place is known; `nil` if it was not counted.
    func place(before number: Int64) -> Place? {
        if number >= counted.position { return number == counted.position ? counted : nil }
        return places.around(number).below ?? Place(position: 0, offset: origin)
    }

    /// The times at which the bytes are played, if the music lasts `duration`; `nil` if the length is unknown.
    func timeMap(lasting duration: Duration) -> TimeMap? {
        guard let length, let count = estimatedCount else { return nil }
        let offsets = (0..<TimeMap.steps).map { step in
            offset(of: Int64(Double(count) * Double(step) / Double(TimeMap.steps)))
        }
        return TimeMap(duration: duration, offsets: offsets.map { min($0, length) } + [length])
    }

    // MARK: Storing

    /// The counted packets, to be stored with the entry.
    func stored() -> [UInt8] {
        var bytes: [UInt8] = []
        for number in [packetCount ?? 0, counted.position, counted.offset] {
            StoredNumbers.append(number, to: &bytes)
        }
        let table = places.stored(for: key)
        guard !table.isEmpty else { return [] }
        bytes += table
        return bytes + StoredNumbers.check(of: bytes[...])
    }

    /// Takes what `stored` returned in an earlier session for the same stream; anything else changes nothing. The numbers
    /// may be wrong, but lie within the resource.
    mutating func takeStored(_ table: [UInt8]) {
        guard var rest = StoredNumbers.checked(table), let count = StoredNumbers.take(&rest),
            let position = StoredNumbers.take(&rest), let offset = StoredNumbers.take(&rest), let length,
            let places = PlaceTable(stored: Array(rest), for: key, length: length),
            let last = places.places.last, position > last.position, position < Self.mostPackets,
            offset > last.offset, offset <= length, count == 0 || count == position
        else { return }
        self.places = places
        counted = Place(position: position, offset: offset)
        packetCount = count > 0 ? count : nil
    }

    private var key: [UInt8] {
        var key: [UInt8] = Array("ADTS".utf8)
        for number in [origin, length ?? 0, Int64(meanLength * 1_024)] {
            StoredNumbers.append(number, to: &key)
        }
        return key
    }
}
