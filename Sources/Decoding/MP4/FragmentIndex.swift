import Media

/// The packets of a track in fragments. A fragment states the time of its first packet, from which that
/// packet's number follows.
///
/// Fragments are walked one after the other. A seek uses the index in the file; without one, it interpolates
/// between the fragments found so far. The time in a fragment shows if it is the right one.
final class FragmentIndex: PacketIndex {
    /// The longest `moof` that is read.
    private static let longestHead: Int64 = 1 << 20
    /// The most looks at the file in one search, and the number of bytes by which a look grows.
    private static let mostLooks = 12
    private static let lookByteCount: Int64 = 32 << 10
    /// The most bytes of one look.
    private static let longestLook: Int64 = 2 << 20
    /// The longest gap between two fragments, in seconds. Only a wrong time leads to a longer one.
    private static let longestGap: Double = 600
    private static let mark = Array("mfhd".utf8)

    private let bytes: HeldBytes
    private let track: Int64
    private let defaultSize: Int64
    /// Units of the track's time for one packet.
    private let ticks: Double
    private let timescale: Int64
    /// The time of the first packet.
    private var origin: Int64 = 0
    /// The fragment that was read last, and the number of its first packet.
    private var current: Fragment
    private var first: Int64 = 0
    /// The number after the last packet of the previous fragment. The packets from it up to the current
    /// fragment's first one are missing.
    private var reached: Int64 = 0
    private var times: FragmentTimes?
    /// Fragments by the numbers of their first packets.
    private var places = PlaceTable()
    private(set) var packetCount: Int64?
    /// The first fragment, and the offset of its first packet.
    private let firstPlace: PlaceTable.Place
    let start: Int64

    /// Reads the first fragment after `head`; `nil` if no fragment has packets of the track.
    init?(_ head: MP4Head, _ track: MP4Track, _ bytes: HeldBytes) async throws {
        guard let configuration = track.configuration else { return nil }
        self.bytes = bytes
        self.track = track.id
        defaultSize = head.defaultSize
        timescale = track.timescale
        ticks =
            Double(track.timescale) * Double(configuration.packetFrames) / Double(configuration.sampleRate)
        guard ticks >= 1 else { return nil }
        var found: Fragment?
        var walk = BoxWalk(in: head.movie.upperBound..<BoxWalk.farthest)
        while found == nil, let box = try await Self.box(&walk, bytes) {
            if box.name == "sidx", times == nil {
                let content = try await bytes.bytes(in: box.content.first(FragmentTimes.mostByteCount))
                times = FragmentTimes(Array(content), of: box)
            } else if box.name == "moof", Int64(box.content.count) <= Self.longestHead {
                let content = Array(try await bytes.bytes(in: box.content))
                found = Fragment(content, of: box, track: track.id, defaultSize: defaultSize)
            }
        }
        guard let found else { return nil }
        current = found
        start = current.packets[0].lowerBound
        origin = current.time ?? 0
        firstPlace = PlaceTable.Place(position: 0, offset: current.offset)
        places.record(firstPlace)
    }

    /// The next box of `walk`; `nil` at the end of the file, and if the search has cost too much.
    private static func box(_ walk: inout BoxWalk, _ bytes: HeldBytes) async throws -> Box? {
        guard let range = walk.wanted, !bytes.isSearchOver else { return nil }
        return walk.took(try await bytes.bytes(in: range))
    }

    private var end: Int64 { first + Int64(current.packets.count) }

    /// The mean number of bytes for one packet, as far as is known.
    private var rate: Double {
        if let last = places.places.last, last.position > 0 {
            return Double(last.offset - firstPlace.offset) / Double(last.position)
        }
        let length = (current.packets.last?.upperBound ?? current.end) - current.offset
        return max(1, Double(length) / Double(max(1, current.packets.count)))
    }

    /// The number of packets in a resource of `length` bytes: known, stated, or estimated.
    func estimatedCount(length: Int64?) -> Int64? {
        if let packetCount { return packetCount }
        if let times { return number(of: times.end, per: times.timescale) }
        guard let length else { return nil }
        return Int64(min(Double(max(0, length - firstPlace.offset)) / rate, 1e12))
    }

    private func number(of time: Int64, per scale: Int64) -> Int64 {
        let units = Double(time) * Double(timescale) / Double(scale) - Double(origin)
        return Int64(max(0, min((units / ticks).rounded(), 1e15)))
    }

    func place(of number: Int64) async throws -> ByteRange? {
        bytes.beginSearch()
        if number < reached || number >= end + Int64(current.packets.count) {
            try await search(for: number)
            reached = min(number, first)
        }
        while number >= end {
            let last = end
            guard try await goOn() else { return nil }
            reached = min(last, first)
        }
        // A gap that is too long is a wrong time: the fragment then counts as the one with packet `number`.
        if Double(first - number) * ticks > Self.longestGap * Double(timescale) { first = number }
        return number < first ? 0..<0 : current.packets[Int(number - first)]
    }

    /// Reads the fragment after the current one; `false` at the end.
    private func goOn() async throws -> Bool {
        var walk = BoxWalk(in: current.end..<BoxWalk.farthest)
        while let box = try await Self.box(&walk, bytes) {
            if box.name == "moof", try await receive(box, after: end) { return true }
        }
        if !bytes.isSearchOver { packetCount = end }
        return false
    }

    /// Reads the fragment that `box` begins; `false` if it has no packets. If it states no time, its first
    /// packet is number `next`.
    private func receive(_ box: Box, after next: Int64?) async throws -> Bool {
        guard Int64(box.content.count) <= Self.longestHead else { return false }
        bytes.search(box.content.count)
        let content = Array(try await bytes.bytes(in: box.content))
        guard let fragment = Fragment(content, of: box, track: track, defaultSize: defaultSize),
            let number = fragment.time.map({ self.number(of: $0, per: timescale) }) ?? next
        else { return false }
        current = fragment
        first = number
        places.record(.init(position: number, offset: fragment.offset))
        return true
    }

    // MARK: Searching

    /// Makes the fragment with packet `number`, or an earlier one, the current fragment.
    private func search(for number: Int64) async throws {
        var low = places.around(number).below ?? firstPlace
        if let times,
            let index = times.places.lastIndex(where: {
                self.number(of: $0.position, per: times.timescale) <= number
            })
        {
            let place = times.places[index]
            if place.offset > low.offset {
                let first = self.number(of: place.position, per: times.timescale)
                low = .init(position: first, offset: place.offset)
            }
        } else {
            for _ in 0..<Self.mostLooks {
                let before = (low, places.around(number).above)
                if try await look(for: number, from: low, to: before.1) { return }
                low = places.around(number).below ?? low
                if (low, places.around(number).above) == before { break }
            }
        }
        var walk = BoxWalk(in: low.offset..<BoxWalk.farthest)
        while let box = try await Self.box(&walk, bytes) {
            if box.name == "moof", try await receive(box, after: low.position) { return }
        }
    }

    /// Looks for fragments where packet `number` is expected between `low` and `high`; `true` if its fragment
    /// was found.
    private func look(for number: Int64, from low: PlaceTable.Place, to high: PlaceTable.Place?) async throws
        -> Bool
    {
        let mean =
            high.map { Double($0.offset - low.offset) / Double(max(1, $0.position - low.position)) } ?? rate
        let fragment = Int64(min(mean * Double(current.packets.count), Double(Self.longestLook)))
        let guess = low.offset + Int64(min(Double(number - low.position) * mean, 1e15))
        let start = max(low.offset, guess - fragment - Self.lookByteCount / 2)
        var searched = 0
        for length in stride(
            from: Self.lookByteCount,
            through: min(2 * fragment + 3 * Self.lookByteCount, Self.longestLook),
            by: Int(Self.lookByteCount)
        ) {
            guard !bytes.isSearchOver else { return false }
            let window = Array(try await bytes.bytes(in: start..<start + length))
            while let index = Self.fragment(in: window, from: searched) {
                var walk = BoxWalk(in: start + Int64(index)..<BoxWalk.farthest)
                searched = index + 1
                guard let box = try await Self.box(&walk, bytes), try await receive(box, after: nil) else {
                    continue
                }
                if first > number { return false }
                if number < end { return true }
            }
            searched = max(searched, window.count - 16)
            if window.count < length { return false }
        }
        return false
    }

    /// The index of the first `moof` in `bytes` from `index` on. It is recognized by its own first box,
    /// `mfhd`.
    private static func fragment(in bytes: [UInt8], from index: Int) -> Int? {
        guard index + 16 <= bytes.count else { return nil }
        return (index...bytes.count - 16).first { index in
            bytes[index + 12] == 0x6D && bytes[(index + 12)..<(index + 16)].elementsEqual(mark)
                && bytes[(index + 4)..<(index + 8)].elementsEqual("moof".utf8)
        }
    }

    func tables(for number: Int64) -> [ByteRange] {
        number >= first && number < end
            ? [] : [places.around(number).below.map { $0.offset..<$0.offset + 1 }].compactMap { $0 }
    }

    func stored() -> [UInt8] { StoredPlaces(places.places).bytes(for: key) }

    /// Takes what `stored` returned in an earlier session for the same file of `length` bytes.
    func restore(_ table: [UInt8], length: Int64?) {
        guard let stored = StoredPlaces(table, for: key, before: length) else { return }
        if stored.places.first == firstPlace { places = PlaceTable(stored) }
    }

    private var key: [Int64] { [firstPlace.offset, origin, timescale, track] }
}
