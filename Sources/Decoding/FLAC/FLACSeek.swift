import Media

/// Finds the frame with a position, by as few requests as possible. Pure.
///
/// Between two known places, the first look is at the offset where an even rate would put the frame. The
/// frames found there are known places too, so each look narrows the gap. A frame counts as found if the
/// check of its header succeeds and its position is between the known places. `wanted` are the bytes to read
/// next; they go to `took`, until there is a `landing`. One request up to `requestEnd` brings them and, if
/// the look finds the frame, the first sound.
struct FLACSeek {
    /// The place at which decoding begins.
    struct Landing: Equatable {
        let place: PlaceTable.Place
        /// `true` if the wanted frame is known to be there, or soon after, so that decoding can continue up
        /// to it.
        let isNear: Bool
    }

    /// The most reads. After them, decoding begins at the nearest place found.
    static let mostReads = 12
    /// The bytes of one look: one request returns at least as many.
    static let lookByteCount: Int64 = 32 << 10
    /// A look begins this many bytes and one frame before the expected place, which is too late if the music
    /// before it has a lower rate than the mean. If it began earlier, it would more often end before the
    /// frame.
    private static let lead: Int64 = 16 << 10
    /// Between near places, the request begins and ends this share of the way to the nearer one before the
    /// expected place and after it. If the rate changes by half every three seconds, 95 of 100 seeks with a
    /// seek table then take one request; without this, 50 of 100.
    private static let doubtShare: Int64 = 4
    /// Longer requests take more time than they save.
    private static let mostDoubt: Int64 = 160 << 10
    /// The most bytes to decode before the wanted frame.
    private static let reach = 64.0 * 1_024
    /// If the rates at both ends differ by this factor, they are taken to change once in between, as from a
    /// loud part of the music to a quiet one.
    private static let distinctRates = 1.5
    /// After this many looks, every second one halves the gap, which limits their number for any music.
    private static let fewestLooksBeforeHalving = 6

    let target: FrameCount
    private(set) var map: FLACMap
    /// The bytes to read next, from the start of the window on; `nil` once there is a landing.
    private(set) var wanted: ByteRange?
    private(set) var landing: Landing?
    /// The offset up to which one request should bring the bytes from the start of `wanted` on.
    private(set) var requestEnd: Int64 = 0
    /// The nearest places before the target and after it; the frame does not begin at `ceiling` or after it.
    private var low: PlaceTable.Place
    private var high: PlaceTable.Place?
    private var ceiling: Int64
    /// The bytes for one PCM frame at both ends, if they were seen.
    private var lowRate: Double?
    private var highRate: Double?
    private var readCount = 0
    private var hasFound = false
    private var hasRestarted = false

    init(to target: FrameCount, in map: FLACMap) {
        self.target = target
        self.map = map
        (low, high) = map.around(target)
        ceiling = high?.offset ?? map.audioEnd ?? PlaceTable.farthest
        // Without positions in the headers, only counting from a known frame on leads to the target.
        map.stream.numbersVaryingBlocks ? land(on: low, isNear: true) : look()
    }

    /// Takes the bytes of `wanted`, or fewer at the end of the resource, which `isWhole` states.
    mutating func took(_ bytes: [UInt8], isWhole: Bool) {
        guard let window = wanted else { return }
        let frames = frames(in: bytes, at: window.lowerBound, isWhole: isWhole)
        if let first = frames.first, let last = frames.last {
            for frame in frames { map.record(frame) }
            hasFound = true
            let rate =
                last.position > first.position
                ? Double(last.offset - first.offset) / Double(last.position - first.position) : nil
            guard frames.allSatisfy(isConsistent) else { return restart() }
            if let near = frames.last(where: { $0.position <= target }) {
                reached(near, rate: rate, isLast: near == last)
            } else {
                high = first
                highRate = rate ?? highRate
                ceiling = window.lowerBound
                look()
            }
        } else if !isWhole, window.count < map.stream.longestFrame, readCount < Self.mostReads {
            // A frame may be longer than a look.
            readCount += 1
            wanted =
                window.lowerBound..<window.lowerBound + Int64(min(window.count * 4, map.stream.longestFrame))
        } else if window.lowerBound > low.offset {
            ceiling = window.lowerBound
            look()
        } else {
            // There is no frame where one should be: damage, or a wrong table.
            !hasFound && low.offset > map.audioStart ? restart() : land(on: low, isNear: true)
        }
    }

    /// `true` if the found `place` is on the same side of the known ones by its position as by its offset.
    private func isConsistent(_ place: PlaceTable.Place) -> Bool {
        [low, high].allSatisfy { known in
            guard let known else { return true }
            return (place.position < known.position) == (place.offset < known.offset)
        }
    }

    /// Narrows the gap: `place` is the last frame found that begins at or before the target.
    private mutating func reached(_ place: PlaceTable.Place, rate: Double?, isLast: Bool) {
        let isStuck = place.position <= low.position && (wanted?.lowerBound ?? 0) <= low.offset
        low = place
        lowRate = rate ?? lowRate
        // The frame after it begins after the target.
        if !isLast { return land(on: place, isNear: true) }
        let distance = Double(target - place.position) * (rate ?? map.bytesPerFrame)
        if distance <= max(Self.reach, Double(requestEnd - place.offset)) || isStuck {
            return land(on: place, isNear: true)
        }
        look()
    }

    private mutating func land(on place: PlaceTable.Place, isNear: Bool) {
        wanted = nil
        landing = Landing(place: place, isNear: isNear)
    }

    /// Begins again without the known places, since one of them is wrong. Once is enough: after that, no
    /// wrong place can be left.
    private mutating func restart() {
        guard !hasRestarted else { return land(on: low, isNear: false) }
        hasRestarted = true
        map.distrust()
        (low, high) = map.around(target)
        ceiling = high?.offset ?? map.audioEnd ?? PlaceTable.farthest
        lowRate = nil
        highRate = nil
        hasFound = false
        look()
    }

    /// Chooses the next place to look at.
    private mutating func look() {
        guard readCount < Self.mostReads else { return land(on: low, isNear: false) }
        let mean = Int64(map.bytesPerFrame * Double(map.stream.largestBlock))
        let isHalved = readCount >= Self.fewestLooksBeforeHalving && readCount % 2 == 0
        let guess = min(isHalved ? middle : expected, ceiling)
        let way = min(guess - low.offset, (high?.offset ?? .max) - guess)
        let isNear = way <= Self.mostDoubt * Self.doubtShare
        let doubt = isNear ? max(Self.lead, way / Self.doubtShare) : Self.lead
        var start = guess - doubt - mean
        // A look near a known frame begins with that frame.
        if start - low.offset < Self.lookByteCount { start = low.offset }
        readCount += 1
        wanted = start..<start + Self.lookByteCount
        let firstSound = Int64(map.bytesPerFrame * Double(map.stream.sampleRate) / 4)
        requestEnd = max(start + Self.lookByteCount, guess + firstSound + (isNear ? doubt : 0))
    }

    private var middle: Int64 { low.offset + (ceiling - low.offset) / 2 }

    /// The offset at which the target is expected.
    private var expected: Int64 {
        let before = Double(target - low.position)
        guard let high else {
            return low.offset
                + Int64(min(before * (lowRate ?? map.bytesPerFrame), Double(PlaceTable.farthest)))
        }
        let count = Double(high.position - low.position)
        let span = Double(high.offset - low.offset)
        let even = before / count * span
        // Later looks know from the first one that the rate is not even.
        guard readCount > 0 else { return low.offset + Int64(even) }
        // If no look has seen the rate at one end, the mean is the best guess for it.
        let first = lowRate ?? span / count
        let last = highRate ?? span / count
        guard max(first, last) > Self.distinctRates * min(first, last) else {
            return low.offset + Int64(even)
        }
        // The position at which the rate changes, counted from the lower place.
        let change = (span - count * last) / (first - last)
        let isOneSided = lowRate == nil || highRate == nil
        // The rate changes twice, as around a quiet part between loud ones, at places that the rates at the
        // ends do not reveal.
        if !isOneSided, !(0...count).contains(change) { return middle }
        let isBefore = isOneSided ? lowRate != nil : before <= change
        let ahead = isBefore ? before * first : span - (count - before) * last
        return low.offset + Int64(ahead > 0 && ahead < span ? ahead : even)
    }

    /// The places of the frames in `bytes`. If some of them follow one another without a gap, only those
    /// count.
    private func frames(in bytes: [UInt8], at offset: Int64, isWhole: Bool) -> [PlaceTable.Place] {
        var headers: [(place: PlaceTable.Place, end: FrameCount)] = []
        var index = 0
        while let (found, header) = FLACFrameHeader.first(
            in: bytes,
            from: index,
            isWhole: isWhole,
            of: map.stream
        ) {
            let place = PlaceTable.Place(position: header.position, offset: offset + Int64(found))
            headers.append((place, header.end))
            index = found + header.byteCount
        }
        let chained = headers.indices.filter { index in
            let position = headers[index].place.position
            return (index > 0 && headers[index - 1].end == position)
                || (index + 1 < headers.count && headers[index + 1].place.position == headers[index].end)
        }
        if !chained.isEmpty { return chained.map { headers[$0].place } }
        // A frame on its own must lie between the known places.
        return headers.map(\.place).filter {
            $0.position >= low.position && $0.position < high?.position ?? .max
        }.prefix(1).map { $0 }
    }
}
