import Media

/// Known places of frames, for streams in which each frame states its position: FLAC (samples) and Ogg (granules).
///
/// A place is the position of the first PCM frame and the offset of its frame in the resource. Of the places that
/// decoding and seeking find, the table keeps some, with a least distance that limits its size.
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
            if below.position == place.position {
                if below.offset != place.offset { places = [place] }
                return
            }
            guard below.offset < place.offset else {
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

    /// The index of the first place after `position`.
    private func index(after position: FrameCount) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension PlaceTable {
    /// The magic number and the version of the format; other versions are refused.
    private static let mark: [UInt8] = Array("RPL".utf8) + [1]

    /// The table as bytes: mark, a check of `key`, the distances of the places, and a check. Empty if no place is known.
    func stored(for key: [UInt8]) -> [UInt8] {
        guard !places.isEmpty else { return [] }
        var bytes = Self.mark + StoredNumbers.check(of: key[...])
        var last = Place(position: 0, offset: 0)
        for place in places {
            StoredNumbers.append(place.position - last.position, to: &bytes)
            StoredNumbers.append(place.offset - last.offset, to: &bytes)
            last = place
        }
        return bytes + StoredNumbers.check(of: bytes[...])
    }

    /// Parses the result of `stored(for:)`; `nil` if a byte was changed, or if it is not of the stream `key`, whose resource
    /// has `length` bytes. No value is trusted: the places may be wrong, but they rise and lie within the resource.
    init?(stored bytes: [UInt8], for key: [UInt8], length: Int64?) {
        let start = Self.mark + StoredNumbers.check(of: key[...])
        guard var rest = StoredNumbers.checked(bytes), rest.starts(with: start) else { return nil }
        rest = rest.dropFirst(start.count)
        self.init()
        var last = Place(position: 0, offset: 0)
        while !rest.isEmpty {
            guard let positions = StoredNumbers.take(&rest), let offsets = StoredNumbers.take(&rest),
                places.isEmpty || (positions > 0 && offsets > 0), places.count < Self.mostPlaces,
                positions < Self.farthest - last.position,
                offsets < min(length ?? Self.farthest, Self.farthest) - last.offset
            else { return nil }
            last = Place(position: last.position + positions, offset: last.offset + offsets)
            places.append(last)
        }
    }
}
