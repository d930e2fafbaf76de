import Media

/// Finds the frame at which to start for a position in the music, and reads the bytes needed for that.
///
/// Among known frames the landing is exact and costs only the reads that decoding needs anyway. If all bytes
/// between a known frame and the position are stored, they are scanned first, which makes their frames known.
/// Otherwise, landing takes one read of up to 64 KiB from slightly before the estimated offset; the headers
/// found there show if the bit rate is constant and the estimate therefore exact.
struct SeekLander {
    struct Landing {
        var map: StreamMap
        var feed: FeedPosition
        var place: SeekLanding
        /// `true` if the position is the end of the music.
        var isEnd = false
    }

    /// The length of one request.
    private static let reach = 65_536
    /// The most frames decoded before the wanted one; they suffice to fill any bit reservoir.
    private static let mostPrimingFrames = 16
    /// The most stored bytes that one seek scans: an hour of music at 64 kbit/s, which takes far less than a
    /// second.
    static let mostWalked = 32 << 20

    let source: any ByteSource
    var map: StreamMap

    /// Lands on the PCM frame `position` of the music.
    func land(on position: FrameCount) async throws -> Landing {
        switch map.route(to: position) {
        case .end(let end):
            return atEnd(SeekLanding(frame: end, isExact: true))
        case .known(let start, let offset, let sample):
            if let landing = try await landKnown(position, start, offset, sample) { return landing }
            // The stored table is wrong here, so it cannot be trusted anywhere.
            var other = self
            other.map.table = SeekTable()
            return try await other.land(on: position)
        case .estimate(let frame, let offset, let sample):
            if map.hasConstantRate {
                let landing = try await landNear(position, frame, map.origin + offset, sample)
                if landing.place.isExact { return landing }
            }
            var walked = self
            try await walked.walkStored(to: frame)
            guard case .estimate(let frame, let offset, let sample) = walked.map.route(to: position) else {
                return try await walked.land(on: position)
            }
            return try await walked.landNear(position, frame, map.origin + offset, sample)
        }
    }

    /// `true` if the bytes that a landing on the PCM frame `position` reads first are stored.
    func isStored(at position: FrameCount) -> Bool {
        let start: Int64
        let count: Int
        switch map.route(to: position) {
        case .end: return true
        case .known(let first, let offset, let sample):
            let frames = sample / map.samplesPerFrame - first + Int64(LandingWindow.agreeingFrames)
            start = map.origin + offset
            count = Int(min(Double(frames) * map.meanFrameLength, Double(Self.reach)))
        case .estimate(let frame, let offset, _):
            let window = LandingWindow(around: map.origin + offset, frame: frame, in: map)
            start = window.start
            count = window.byteCount
        }
        let end = min(start + Int64(count), source.length ?? .max)
        return start >= end || source.isStored(start..<end)
    }

    /// Scans stored bytes from the last known frame before frame `number` up to that frame.
    private mutating func walkStored(to number: Int64) async throws {
        guard let point = map.table.point(atOrBefore: number) else { return }
        var scan = map.scan(fromFrame: point.frame, at: map.origin + point.offset)
        var budget = Self.mostWalked
        while scan.number <= number, !scan.isLost, budget > 0 {
            try Task.checkCancellation()
            let before = scan.offset
            let bytes = try await source.readStored(at: before, count: StoredWalk.slice)
            scan.scan(bytes) { map.observe(frame: $0, at: $1) }
            if let length = source.length, let count = scan.frameCount(endingAt: length) {
                map.ended(after: count)
                return
            }
            guard scan.offset > before else { return }
            budget -= bytes.count
        }
    }

    private func atEnd(_ place: SeekLanding) -> Landing {
        let feed = FeedPosition(
            frame: 0,
            start: map.audioEnd ?? map.origin,
            isExact: false,
            wantedSample: 0,
            pending: []
        )
        return Landing(map: map, feed: feed, place: place, isEnd: true)
    }

    /// Lands at a known frame; `nil` if no frame begins there.
    private func landKnown(
        _ position: FrameCount,
        _ start: Int64,
        _ offset: Int64,
        _ sample: FrameCount
    ) async throws -> Landing? {
        var window = ByteWindow(source, at: map.origin + offset)
        try await window.fill(FrameHeader.byteCount, askingUpTo: Self.reach / 2)
        if offset > 0 {
            guard let header = FrameHeader(window.bytes, at: 0), header.isConsistent(with: map.header) else {
                return nil
            }
            // If the bytes read reach the next known point, a frame must begin exactly there.
            var scan = map.scan(fromFrame: start, at: window.start)
            var isRight = true
            scan.scan(window.bytes) { number, place in
                guard let known = map.table.offset(ofFrame: number) else { return }
                isRight = isRight && known == place - map.origin
            }
            guard isRight else { return nil }
        }
        let feed = FeedPosition(
            frame: start,
            start: window.start,
            isExact: true,
            wantedSample: sample,
            pending: window.bytes
        )
        return Landing(map: map, feed: feed, place: SeekLanding(frame: position, isExact: true))
    }

    /// Lands near `offset`, where frame `wanted` is expected.
    private func landNear(
        _ position: FrameCount,
        _ wanted: Int64,
        _ offset: Int64,
        _ sample: FrameCount
    ) async throws -> Landing {
        let wantedWindow = LandingWindow(around: offset, frame: wanted, in: map)
        if wantedWindow.start <= map.origin, let landing = try await landKnown(position, 0, 0, sample) {
            return landing
        }
        var window = ByteWindow(source, at: wantedWindow.start)
        try await window.fill(wantedWindow.byteCount, askingUpTo: Self.reach)
        var frames = frames(in: window)
        if frames.isEmpty {
            // There may be music after a tag or junk.
            try await window.fill(Self.reach, askingUpTo: Self.reach)
            frames = self.frames(in: window)
        }
        guard !frames.isEmpty else { return atEnd(SeekLanding(frame: position, isExact: false)) }
        if let landing = constantRateLanding(position, wanted, sample, window, frames) { return landing }

        // The frame nearest to the expected offset is taken as the wanted one, or the first with enough
        // frames before it.
        let expected = Int(offset - window.start)
        let nearest =
            frames.indices.min { abs(frames[$0].index - expected) < abs(frames[$1].index - expected) } ?? 0
        let target = max(nearest, min(map.header.primingFrameCount, frames.count - 1))
        let first = max(0, target - Self.mostPrimingFrames)
        let number = wanted - Int64(target - first)
        let feed = feed(window, frames[first], number: number, isExact: false, sample)
        return Landing(map: map, feed: feed, place: SeekLanding(frame: position, isExact: false))
    }

    /// An exact landing, if all headers found are at the offsets of a constant bit rate; `nil` otherwise.
    private func constantRateLanding(
        _ position: FrameCount,
        _ wanted: Int64,
        _ sample: FrameCount,
        _ window: ByteWindow,
        _ frames: [FrameWalker.Frame]
    ) -> Landing? {
        guard map.hasConstantRate, let rate = map.rate, frames.count >= LandingWindow.agreeingFrames else {
            return nil
        }
        let origin = window.start - map.origin
        let numbers = frames.map { rate.frame(at: origin + Int64($0.index)) }
        guard let first = numbers[0] else { return nil }
        for (index, number) in numbers.enumerated() {
            guard number == first + Int64(index), frames[index].header.bitRate == map.header.bitRate else {
                return nil
            }
        }
        let target = Int(wanted - first)
        guard frames.indices.contains(target), let start = primed(target, frames, first: first) else {
            return nil
        }
        let feed = feed(window, frames[start], number: first + Int64(start), isExact: true, sample)
        return Landing(map: map, feed: feed, place: SeekLanding(frame: position, isExact: true))
    }

    /// The last frame, at a multiple of the table's stride, that primes the decoder for `target`.
    private func primed(_ target: Int, _ frames: [FrameWalker.Frame], first: Int64) -> Int? {
        var reservoir = 0
        for index in stride(from: target - 3, through: 0, by: -1) {
            reservoir += frames[index].byteCount - map.header.overheadByteCount - 2
            if target - index >= map.header.primingFrameCount, reservoir >= map.header.longestReservoir,
                (first + Int64(index)) % SeekTable.stride == 0
            {
                return index
            }
        }
        return nil
    }

    private func feed(
        _ window: ByteWindow,
        _ frame: FrameWalker.Frame,
        number: Int64,
        isExact: Bool,
        _ sample: FrameCount
    ) -> FeedPosition {
        FeedPosition(
            frame: number,
            start: window.start + Int64(frame.index),
            isExact: isExact,
            wantedSample: sample,
            pending: Array(window.bytes[frame.index...])
        )
    }

    /// The frames of the stream's kind; if there are none, frames of another kind.
    private func frames(in window: ByteWindow) -> [FrameWalker.Frame] {
        let frames = walk(window.bytes, like: map.header)
        return frames.isEmpty ? walk(window.bytes, like: nil) : frames
    }

    private func walk(_ bytes: [UInt8], like header: FrameHeader?) -> [FrameWalker.Frame] {
        var walker = FrameWalker(bytes, like: header)
        var frames: [FrameWalker.Frame] = []
        while let frame = walker.next() { frames.append(frame) }
        return frames
    }
}

/// The bytes that a jump to an estimated offset needs to determine where it landed.
///
/// As few as possible, because on a slow connection each further frame delays the sound.
struct LandingWindow: Equatable {
    /// Frames that must agree before the bit rate counts as constant.
    static let agreeingFrames = 12
    /// The most bytes read before the estimate to prime the decoder.
    private static let longestLeadIn: Int64 = 24_576
    /// The longest tag at the end that keeps landings in the last seconds exact.
    private static let longestTail: Int64 = 65_536
    /// The number of frames after the estimate. Their headers show which frame is nearest to it.
    private static let framesBehind = 3

    /// The offset in the resource where the window begins, not before the first frame.
    let start: Int64
    let byteCount: Int

    /// The window around `offset` of the resource, where frame `wanted` of `map` is expected.
    init(around offset: Int64, frame wanted: Int64, in map: StreamMap) {
        let mean = max(1, map.meanFrameLength)
        var lead: Double
        var behind = Double(Self.framesBehind * map.header.longestFrameByteCount)
        if map.hasConstantRate {
            // The frame where feeding begins is computed. Enough frames must follow it to establish a
            // constant bit rate, or precede it near the end of the music, which may be one tag before the end
            // of the resource.
            let isNearEnd = map.audioEnd.map { $0 - offset < Self.longestTail } ?? false
            let fewest = Int64(isNearEnd ? Self.agreeingFrames + 4 : 0)
            let frames = max(Self.primingFrames(before: wanted, in: map), fewest)
            lead = Double(frames) * mean + Double(FrameHeader.byteCount)
            behind = max(behind, Double(Self.agreeingFrames + 2) * mean - lead)
        } else {
            // Frames before the estimate may be longer than the mean; those that fill the reservoir may be
            // shorter.
            lead = Double(map.header.primingFrameCount + 2) * mean + Double(4 * map.header.longestReservoir)
        }
        lead = lead.rounded(.up)
        let start = max(offset - min(Int64(lead), Self.longestLeadIn), map.origin)
        self.start = start
        byteCount = Int(offset - start) + Int(behind.rounded(.up))
    }

    /// How many frames before frame `wanted` feeding begins, if all frames have the mean length. The result
    /// is enough to prime the decoder and fill the bit reservoir, and puts the start at a multiple of the
    /// table's stride.
    private static func primingFrames(before wanted: Int64, in map: StreamMap) -> Int64 {
        let header = map.header
        let mainData = max(1, Int(map.meanFrameLength) - header.overheadByteCount - 2)
        let reservoir = (header.longestReservoir + mainData - 1) / mainData + 2
        let fewest = Int64(max(header.primingFrameCount, reservoir, 3))
        return fewest + max(0, wanted - fewest) % SeekTable.stride
    }
}
