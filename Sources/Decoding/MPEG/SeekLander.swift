import Media

/// Finds the frame to start at for a place in the music, reading what it must.
///
/// Into known frames the landing is exact and costs the reads that decoding needs anyway. Stored bytes between
/// a known frame and the place are walked first, which makes them known. Into unknown bytes it
/// costs one read of up to 64 KiB from a little before the estimate; the headers found there tell
/// whether a constant bit rate made the estimate exact.
struct SeekLander {
    struct Landing {
        var map: StreamMap
        var feed: FeedPosition
        var place: SeekLanding
        /// Whether nothing comes behind the place.
        var isEnd = false
    }

    /// One request's worth.
    private static let reach = 65_536
    /// More frames than these fill every reservoir.
    private static let mostPrimingFrames = 16
    /// The most stored bytes that one seek walks: an hour of music at 64 kbit/s, and far below a second of work.
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
            // The table came from outside and is wrong here, so nowhere it can be trusted.
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

    /// Notes the frames from the last known one before frame `number` to it, as far as bytes are stored.
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

    /// Starts at a known frame; nil when no frame begins there.
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
            // The next point, if it is at hand, must be where the frames lead to.
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

    /// Starts near `offset`, where frame `wanted` is expected.
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
            // Behind a tag or junk there is music too.
            try await window.fill(Self.reach, askingUpTo: Self.reach)
            frames = self.frames(in: window)
        }
        guard !frames.isEmpty else { return atEnd(SeekLanding(frame: position, isExact: false)) }
        if let landing = constantRateLanding(position, wanted, sample, window, frames) { return landing }

        // Numbers are what the estimate says: the frame nearest to the expected place is the wanted one, or the first
        // that has enough before it.
        let expected = Int(offset - window.start)
        let nearest =
            frames.indices.min { abs(frames[$0].index - expected) < abs(frames[$1].index - expected) } ?? 0
        let target = max(nearest, min(map.header.primingFrameCount, frames.count - 1))
        let first = max(0, target - Self.mostPrimingFrames)
        let number = wanted - Int64(target - first)
        let feed = feed(window, frames[first], number: number, isExact: false, sample)
        return Landing(map: map, feed: feed, place: SeekLanding(frame: position, isExact: false))
    }

    /// An exact landing where all headers found lie as the constant bit rate lays them; else nil.
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

    /// The last frame, at a multiple of the table's stride, from which `target` is reached with all it depends on.
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

    /// The frames of the known kind, or of another one where it has changed.
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
