import Media

/// Known places of frames, for streams in which each frame states its position: FLAC (samples) and Ogg
/// (granules).
///
/// A place is the position of the first PCM frame and the offset of its frame in the resource. Of the places
/// that decoding and seeking find, the table keeps some, with a least distance that limits its size.
struct PlaceTable: Equatable {
    struct Place: Equatable {
        let position: FrameCount
        let offset: Int64
    }

    /// The least distance of two places in bytes: as much as one request returns.
    static let leastDistance = Int64(ByteWindow.requestByteCount)
    /// The most places: 256 KiB, for a file of 1 GiB at the least distance.
    static let mostPlaces = 16_384
    /// Larger than any file and any music, but far from overflow.
    static let farthest: Int64 = 1 << 56

    /// In rising order of both position and offset.
    private(set) var places: [Place] = []
    private var distance = PlaceTable.leastDistance

    /// Records that the frame at `place.offset` begins with the PCM frame `place.position`.
    ///
    /// If this contradicts the table, the table cannot be trusted anywhere.
    mutating func record(_ place: Place) {
        let next = index(after: place.position)
        if next > 0 {
            let below = places[next - 1]
            if below == place { return }
            guard below.position < place.position, below.offset < place.offset else {
                places = [place]
                return
            }
            if place.offset - below.offset < distance { return }
        }
        if next < places.count {
            guard place.offset < places[next].offset else {
                places = [place]
                return
            }
            if places[next].offset - place.offset < distance { return }
        }
        places.insert(place, at: next)
        guard places.count > Self.mostPlaces else { return }
        distance *= 2
        let all = places
        places = []
        for place in all where place.offset - (places.last?.offset ?? -distance) >= distance {
            places.append(place)
        }
    }

    /// The nearest places at or before `position`, and after it.
    func around(_ position: FrameCount) -> (below: Place?, above: Place?) {
        let next = index(after: position)
        return (next > 0 ? places[next - 1] : nil, next < places.count ? places[next] : nil)
    }

    /// The same, of the places between `start` and `end`, which count too. Places that contradict the two are
    /// ignored.
    func around(_ position: FrameCount, between start: Place, and end: Place?) -> (
        below: Place, above: Place?
    ) {
        let found = around(position)
        func usable(_ place: Place?) -> Place? {
            guard let place, place.position > start.position, place.offset > start.offset,
                place.position < end?.position ?? .max, place.offset < end?.offset ?? .max
            else { return nil }
            return place
        }
        return (usable(found.below) ?? start, usable(found.above) ?? end)
    }

    /// The offset of `position`, which is between `start` and `end`, if the rate is even between known
    /// places.
    func offset(of position: FrameCount, between start: Place, and end: Place) -> Int64 {
        let (low, above) = around(position, between: start, and: end)
        let high = above ?? end
        let share = Double(position - low.position) / Double(max(1, high.position - low.position))
        return low.offset + Int64(Double(high.offset - low.offset) * min(max(share, 0), 1))
    }

    private func index(after position: FrameCount) -> Int {
        places.partitioningIndex { $0.position > position }
    }
}

extension PlaceTable {
    init(_ stored: StoredPlaces) { places = stored.places }
}
