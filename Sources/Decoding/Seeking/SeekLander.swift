import Media

/// Finds the frame at which to start for a position in the music, and reads the bytes needed for that.
///
/// Among known frames the landing is exact and costs only the reads that decoding needs anyway. If all bytes
/// between a known frame and the position are stored, they are scanned first, which makes their frames known.
/// Otherwise, landing takes one read of up to 64 KiB from slightly before the estimated offset; the headers
/// found there show if the bit rate is constant and the estimate therefore exact.
struct SeekLander {
    /// The most frames decoded before the wanted one; they suffice to fill any bit reservoir.
    private static let mostPrimingFrames = 16
    /// The most stored bytes that one seek scans: an hour of music at 64 kbit/s, which takes far less than a
    /// second.
    static let mostWalked = 32 << 20

    let source: any ByteSource
    /// The map of the stream. Landing adds the frames that it finds.
    private(set) var map: StreamMap

    init(_ source: any ByteSource, _ map: StreamMap) {
        self.source = source
        self.map = map
    }

    /// Lands on `time`, or on the end of the music if that is earlier.
    mutating func land(at time: Duration) async throws -> FeedPosition {
        switch map.route(to: map.position(at: time)) {
        case .end(let end): return atEnd(wanted: map.trim.sample(at: end), isExact: true)
        case .known(let start, let offset, let sample):
            if let feed = try await feed(fromKnown: start, at: offset, wanted: sample) { return feed }
            // The stored table is wrong here, so it cannot be trusted anywhere.
            map.table = SeekTable()
            return try await land(at: time)
        case .estimate(let frame, let offset, let sample):
            if map.isBehindFirstPart(frame) { map.dropConstantRate() }
            if map.hasConstantRate {
                let feed = try await land(near: map.origin + offset, wanted: sample)
                if feed.isExact { return feed }
            }
            try await walkStored(to: frame)
            // Stored bytes are played without any request. If bytes arrive in order, a sample would come too
            // late.
            if !source.arrivesInOrder, !isStored(at: map.trim.position(ofSample: sample)) {
                try await sampleRates(for: frame)
            }
            // Samples also change the estimate of the end.
            guard case .estimate(_, let offset, let sample) = map.route(to: map.position(at: time)) else {
                return try await land(at: time)
            }
            return try await land(near: map.origin + offset, wanted: sample)
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
            count = Int(min(Double(frames) * map.meanFrameLength, Double(ByteWindow.requestByteCount)))
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
            scan.scan(bytes, endingAt: source.length) { map.observe(frame: $0, at: $1) }
            if let length = source.length, let count = scan.frameCount(endingAt: length) {
                map.ended(after: count)
                return
            }
            guard scan.offset > before else { return }
            budget -= bytes.count
        }
    }

    /// Samples the lengths of frames elsewhere, if nothing else states the place of frame `number`.
    private mutating func sampleRates(for number: Int64) async throws {
        while let offset = map.nextSample(for: number) {
            let frames = frames(in: try await source.sample(at: offset))
            let length = frames.count > 1 ? frames[frames.count - 1].index - frames[0].index : 0
            map.sample(Double(length) / Double(max(1, frames.count - 1)), around: offset)
        }
    }

    private func atEnd(wanted sample: FrameCount, isExact: Bool) -> FeedPosition {
        let end = map.audioEnd ?? map.origin
        return FeedPosition(firstFrame: 0, start: end, isExact: isExact, wantedSample: sample, isAtEnd: true)
    }

    /// Reads from frame `start`, known to begin at `offset`; `nil` if no frame begins there.
    private func feed(
        fromKnown start: Int64,
        at offset: Int64,
        wanted sample: FrameCount
    ) async throws -> FeedPosition? {
        var window = ByteWindow(source, at: map.origin + offset)
        try await window.fill(FrameHeader.byteCount, askingUpTo: ByteWindow.requestByteCount / 2)
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
        return FeedPosition(
            firstFrame: start,
            start: window.start,
            isExact: true,
            wantedSample: sample,
            pending: window.bytes
        )
    }

    /// Lands on PCM frame `sample`, counted from the first one decoded, whose MPEG frame is expected at
    /// `offset` of the resource.
    private mutating func land(near offset: Int64, wanted sample: FrameCount) async throws -> FeedPosition {
        let frame = sample / map.samplesPerFrame
        let wanted = LandingWindow(around: offset, frame: frame, in: map)
        if wanted.start <= map.origin, let feed = try await feed(fromKnown: 0, at: 0, wanted: sample) {
            return feed
        }
        var window = ByteWindow(source, at: wanted.start)
        try await window.fill(wanted.byteCount, askingUpTo: ByteWindow.requestByteCount)
        var frames = frames(in: window.bytes)
        if frames.isEmpty {
            // There may be music after a tag or junk.
            try await window.fill(ByteWindow.requestByteCount, askingUpTo: ByteWindow.requestByteCount)
            frames = self.frames(in: window.bytes)
        }
        if frames.isEmpty, window.isAtEnd || window.end >= map.audioEnd ?? .max {
            return atEnd(wanted: sample, isExact: false)
        }
        let exact = exactStart(for: frame, in: frames, at: window.start)
        if frames.contains(where: { $0.header.bitRate != map.header.bitRate }) { map.dropConstantRate() }
        let (index, number) = exact ?? estimatedStart(for: frame, near: offset - window.start, in: frames)
        // If the bytes are no music, however many they are, what follows them is played.
        let skipped = frames.isEmpty ? 0 : frames[index].index
        return FeedPosition(
            firstFrame: number,
            start: window.start + Int64(skipped),
            isExact: exact != nil,
            wantedSample: sample,
            pending: Array(window.bytes[skipped...])
        )
    }

    /// Chooses from `frames` the one with which decoding begins, so that frame `wanted`, expected at index
    /// `expected`, is primed. Returns its index and its presumed number.
    ///
    /// The frame nearest to the expected index is taken as the wanted one, or the first with enough frames
    /// before it.
    private func estimatedStart(
        for wanted: Int64,
        near expected: Int64,
        in frames: [FrameWalker.Frame]
    ) -> (index: Int, number: Int64) {
        let distances = frames.map { abs(Int64($0.index) - expected) }
        let nearest = distances.indices.min { distances[$0] < distances[$1] } ?? 0
        let place = max(nearest, min(map.header.primingFrameCount, frames.count - 1))
        let first = max(0, place - Self.mostPrimingFrames)
        return (first, wanted - Int64(place - first))
    }

    /// Chooses from `frames`, found from offset `start` on, the one with which decoding begins. Returns its
    /// index and its number; `nil` unless all frames are at the offsets of a constant bit rate and one of
    /// them primes the decoder for `wanted`.
    private func exactStart(
        for wanted: Int64,
        in frames: [FrameWalker.Frame],
        at start: Int64
    ) -> (index: Int, number: Int64)? {
        guard map.hasConstantRate, let rate = map.rate, frames.count >= LandingWindow.agreeingFrames else {
            return nil
        }
        let numbers = frames.map { rate.frame(at: start - map.origin + Int64($0.index)) }
        guard let first = numbers[0] else { return nil }
        for (index, number) in numbers.enumerated() {
            guard number == first + Int64(index), frames[index].header.bitRate == map.header.bitRate else {
                return nil
            }
        }
        guard frames.indices.contains(Int(wanted - first)) else { return nil }
        return primed(Int(wanted - first), frames, first: first).map { ($0, first + Int64($0)) }
    }

    /// The index of the last frame that primes the decoder for `target` and whose number is a multiple of the
    /// table's stride; `nil` if there is none.
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

    /// The frames of the stream's kind; if there are none, frames of another kind.
    private func frames(in bytes: [UInt8]) -> [FrameWalker.Frame] {
        let frames = Array(FrameWalker(bytes, like: map.header))
        return frames.isEmpty ? Array(FrameWalker(bytes)) : frames
    }
}

/// The bytes that a seek to an estimated offset reads to determine where it landed.
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
