import Media

/// The known offsets of a stream's frames, and its length. Pure.
///
/// It is filled from the head, from every decoded frame and from the tail, and finds the bytes for a position
/// in the music. Offsets count from the origin, the first frame that is played.
struct StreamMap {
    enum Route: Equatable {
        /// The position is at or past the end of the music, which has this many PCM frames.
        case end(FrameCount)
        /// Decoding from MPEG frame `start`, at `offset`, reaches the wanted `sample` exactly.
        case known(start: Int64, offset: Int64, sample: FrameCount)
        /// MPEG frame `frame`, which contains `sample`, is near `offset`.
        case estimate(frame: Int64, offset: Int64, sample: FrameCount)
    }

    /// Up to this many bytes beyond those that the header counts may be a tag; more are appended music.
    private static let unexplained: Int64 = 65_536
    /// The same once the tags at the end were read.
    private static let unexplainedBeforeTail: Int64 = 8_192

    let header: FrameHeader
    private(set) var xing: XingHeader?
    private(set) var trim: GaplessTrim
    /// The offset of frame 0 in the resource.
    private(set) var origin: Int64
    private let firstFrame: Int64
    /// The length of a free-format frame without padding; `nil` in all other streams.
    let freeByteCount: Int?
    /// The length of the music, if the stream has frames of several kinds and all were counted.
    var mixedLength: Duration?
    var table = SeekTable()
    private(set) var rate: ConstantRate?
    /// The offset in the resource where the audio ends, before the tags at its end; `nil` while unknown.
    var audioEnd: Int64?
    /// `true` if the tags at the end are known, so that only music precedes `audioEnd`.
    var isTailKnown = false
    /// The last frame observed so far, for the mean length of a frame.
    private var furthest: (number: Int64, offset: Int64) = (0, 0)
    /// The sampled rates after that frame.
    private var profile: RateProfile

    /// - Parameter duration: the length of the music as a playlist states it; `nil` if none does.
    init(_ head: StreamHead, audioEnd: Int64?, lasting duration: Duration? = nil) {
        let framesPerSecond = Double(head.header.sampleRate) / Double(head.header.samplesPerFrame)
        profile = RateProfile(
            statedFrames: duration.map { $0.seconds * framesPerSecond },
            places: .accurate
        )
        header = head.header
        xing = head.xing
        trim = GaplessTrim(head.xing, samplesPerFrame: head.header.samplesPerFrame)
        origin = head.origin
        firstFrame = head.firstFrame
        rate = ConstantRate(head.header)
        self.audioEnd = audioEnd
        freeByteCount = head.frames.first { $0.header.bitRate == 0 }
            .map { $0.byteCount - ($0.header.isPadded ? 1 : 0) }
        // A count of bytes too small for the counted frames says nothing.
        if let bytes = xing?.byteCount, let frames = xing?.frameCount, freeByteCount == nil,
            bytes < frames * Int64(header.shortestFrameByteCount)
        {
            xing?.byteCount = nil
        }
        guard !head.frames.isEmpty else { return }
        var scan = self.scan(fromFrame: 0, at: origin)
        scan.scan(Array(head.bytes[Int(origin - head.firstFrame)...])) { observe(frame: $0, at: $1) }
    }

    /// Creates a scan from frame `number`, which begins at `offset` of the resource.
    func scan(fromFrame number: Int64, at offset: Int64) -> FrameScan {
        FrameScan(fromFrame: number, at: offset, like: header, freeByteCount: freeByteCount)
    }

    var format: AudioFormat { AudioFormat(sampleRate: header.sampleRate, channelCount: header.channelCount) }

    var samplesPerFrame: FrameCount { FrameCount(header.samplesPerFrame) }

    func key(length: Int64?) -> SeekTableKey { SeekTableKey(header: header, origin: origin, length: length) }

    /// `true` if all known frames are at the offsets of a constant bit rate.
    var hasConstantRate: Bool { (xing == nil || xing?.kind == .info) && rate?.isConstant == true }

    /// Records that MPEG frame `number` begins at `offset` of the resource.
    mutating func observe(frame number: Int64, at offset: Int64) {
        let distance = offset - origin
        guard distance >= 0 else { return }
        // If the table is wrong here, it cannot be trusted anywhere.
        if let known = table.offset(ofFrame: number), known != distance { table = SeekTable() }
        table.record(frame: number, at: distance)
        rate?.observe(frame: number, at: distance)
        if number > furthest.number { furthest = (number, distance) }
    }

    /// Moves the origin to `offset`, where libmpg123 found its first frame. If that is the frame of the Xing
    /// header, libmpg123 played it as audio, so the header is ignored.
    mutating func rebase(to offset: Int64) {
        if offset == firstFrame {
            xing = nil
            trim = GaplessTrim(nil, samplesPerFrame: header.samplesPerFrame)
        }
        origin = offset
        table = SeekTable()
        rate = ConstantRate(header)
        furthest = (0, 0)
    }

    /// Forgets the constant rate, which frames elsewhere contradict.
    mutating func dropConstantRate() { rate = nil }

    /// `true` if frame `number` is behind the first of joined files, and may have another rate.
    func isBehindFirstPart(_ number: Int64) -> Bool { isContinued && number >= xing?.frameCount ?? .max }

    /// The number of bytes beyond those that the header counts; `nil` if it does not count them.
    private var excess: Int64? {
        guard let bytes = xing?.byteCount, let audioEnd else { return nil }
        return audioEnd - firstFrame - bytes
    }

    /// How many bytes after those that the header counts need not be music.
    private var mostUnexplained: Int64 {
        let least = Self.unexplainedBeforeTail
        return isTailKnown ? least : max(least, min((xing?.byteCount ?? .max) / 4, Self.unexplained))
    }

    /// `true` if more music follows the frames that the header counts, as in joined files.
    private var isContinued: Bool { (excess ?? 0) >= mostUnexplained }

    /// `true` if the frames that the header counts and are still to come cannot have the length of their
    /// bytes.
    private var isContradicted: Bool {
        guard let xing, let count = xing.frameCount, freeByteCount == nil,
            let end = xing.byteCount ?? audioEnd.map({ $0 - firstFrame })
        else { return false }
        let bytes = max(0, end - (origin - firstFrame) - furthest.offset)
        let frames = max(0, count - furthest.number)
        let slack = mostUnexplained
        if xing.kind == .info, let rate, rate.isConstant {
            return abs(rate.offset(ofFrame: frames) - bytes) > slack + bytes / 16
        }
        return frames * Int64(header.shortestFrameByteCount) > bytes + slack
            || frames * Int64(header.longestFrameByteCount) + slack < bytes
    }

    private var trusted: XingHeader? { isContradicted ? nil : xing }

    /// The last frame whose place is known: observed, or the end of the first of joined files, which its
    /// header states.
    private var lastKnown: (number: Int64, offset: Int64) {
        guard isContinued, let xing = trusted, let frames = xing.frameCount, let bytes = xing.byteCount,
            frames > furthest.number
        else { return furthest }
        return (frames, max(0, bytes - (origin - firstFrame)))
    }

    /// The facts by which samples estimate places, if the rate varies and nothing in the stream states how;
    /// `nil` otherwise.
    private var unstated: RateProfile.Known? {
        guard trusted == nil || isContinued, freeByteCount == nil, !hasConstantRate, table.frameCount == nil,
            let audioEnd,
            audioEnd > origin
        else { return nil }
        let (number, offset) = lastKnown
        let length = audioEnd - origin
        return RateProfile.Known(number: number, offset: offset, mean: meanFrameLength, length: length)
    }

    /// The offset in the resource at which to sample the length of frames next, before a seek to frame
    /// `number`; `nil` if no further sample is worth its request.
    func nextSample(for number: Int64) -> Int64? {
        guard let unstated, number > unstated.number else { return nil }
        return profile.nextSample(behind: unstated).map { origin + $0 }
    }

    /// Records that the frames around `offset` of the resource have the mean length `length`; 0 if none were
    /// found there.
    mutating func sample(_ length: Double, around offset: Int64) {
        profile.sample(length, around: offset - origin)
    }

    /// Records that the stream has `count` MPEG frames.
    mutating func ended(after count: Int64) { table.frameCount = count }

    /// The length of the music in PCM frames, counted or stated by a header; `nil` if neither is known.
    var statedLength: FrameCount? {
        if let count = table.frameCount { return trim.position(ofSample: count * samplesPerFrame) }
        guard let length = trim.musicLength, !isCutShort, !isContinued, !isContradicted else { return nil }
        return length
    }

    /// `true` if the resource ends before the end of the music that its header states.
    private var isCutShort: Bool { (excess ?? 0) < -Int64(FrameHeader.longestFrame) }

    /// The length of the music. If it is not stated, it is estimated from the mean length of a frame; `nil`
    /// if that fails because the length of the resource is unknown.
    var estimatedLength: FrameCount? {
        if let statedLength { return statedLength }
        if let xing = trusted, xing.kind == .vbri, !isCutShort, !isContinued, let frames = xing.frameCount {
            // The frame that holds a VBRI header is played too.
            return trim.position(ofSample: (frames + 1) * samplesPerFrame)
        }
        guard let audioEnd, audioEnd > origin else { return nil }
        let frames = unstated.flatMap(profile.frameCount) ?? Double(audioEnd - origin) / meanFrameLength
        guard frames < 1e12 else { return nil }
        return trim.position(ofSample: FrameCount(frames.rounded()) * samplesPerFrame)
    }

    /// The mean length of a frame in bytes: as the Xing or VBRI header states it, else measured on the
    /// observed frames, else computed from the first frame's header.
    var meanFrameLength: Double {
        if let bytes = trusted?.byteCount, let frames = xing?.frameCount, bytes > frames,
            frames > furthest.number
        {
            return Double(bytes) / Double(frames)
        }
        if furthest.number > 0, furthest.offset > 0 {
            return Double(furthest.offset) / Double(furthest.number)
        }
        return Double(max(header.frameByteCount ?? 1, 1))
    }

    /// The PCM frame of the music at `time`, at most the end of the music.
    func position(at time: Duration) -> FrameCount { min(format.frames(in: time), estimatedLength ?? .max) }

    /// Finds the way to the PCM frame `position` of the music.
    func route(to position: FrameCount) -> Route {
        if let end = statedLength, position >= end { return .end(end) }
        let sample = trim.sample(at: position)
        let frame = sample / samplesPerFrame
        if let point = table.primingPoint(forFrame: frame, like: header) {
            return .known(start: point.frame, offset: point.offset, sample: sample)
        }
        return .estimate(frame: frame, offset: estimatedOffset(ofFrame: frame), sample: sample)
    }

    /// The estimated offset of frame `number`, interpolated between the known frames around it and limited to
    /// the audio.
    private func estimatedOffset(ofFrame number: Int64) -> Int64 {
        let offset = table.offsets(of: [number], estimate: roughOffset)[0]
        return max(0, min(offset, audioEnd.map { $0 - origin } ?? .max))
    }

    /// The offset of frame `number` if no other frame is known.
    private func roughOffset(ofFrame number: Int64) -> Int64 {
        let offset: Int64
        if hasConstantRate, let rate {
            offset = rate.offset(ofFrame: number)
        } else if let share = tableShare(ofFrame: number),
            let bytes = trusted?.byteCount ?? audioEnd.map({ $0 - firstFrame })
        {
            // A server may state any length; the largest ones would overflow.
            offset = Int64(min(share * Double(bytes), 1e15)) - (origin - firstFrame)
        } else if let unstated, let place = profile.offset(ofFrame: number, behind: unstated) {
            offset = place
        } else {
            offset = Int64(min(Double(number) * meanFrameLength, 1e15))
        }
        return max(0, offset)
    }

    /// The share of the bytes that precede frame `number`, according to the header's table. A Xing table
    /// rounds down to 1/256, so half of that is added.
    private func tableShare(ofFrame number: Int64) -> Double? {
        guard let xing = trusted, let frames = xing.frameCount, frames > 0, number < frames || !isContinued,
            let share = xing.byteShare(at: Double(number) / Double(frames))
        else { return nil }
        return min(share + (xing.kind == .xing ? 0.5 / 256 : 0), 1)
    }
}

extension StreamMap: StreamClock {
    var audio: ByteRange? { audioEnd.map { origin..<max(origin, $0) } }

    var duration: Duration? { mixedLength ?? estimatedLength.map(format.duration) }

    var isDurationExact: Bool { statedLength != nil || mixedLength != nil }

    var bytesPerSecond: Double { meanFrameLength * Double(format.sampleRate) / Double(samplesPerFrame) }

    /// The offsets of the known frames, and between them the estimates by which a seek lands.
    func offsets(at shares: [Double]) -> [Int64]? {
        guard !hasConstantRate, mixedLength == nil, let length = estimatedLength, length > 0 else {
            return nil
        }
        let frames = shares.map { trim.sample(at: FrameCount(Double(length) * $0)) / samplesPerFrame }
        return table.offsets(of: frames, estimate: roughOffset).map { origin + $0 }
    }

    /// For display: `MPEG-1 Layer III, VBR`, ….
    var codec: SafeText {
        // In free format all frames have one length.
        let isVariable =
            xing.map { $0.kind != .info } ?? !(hasConstantRate || freeByteCount != nil)
        return header.codecName + (isVariable ? ", VBR" : ", CBR")
    }
}

/// Checks if frames have a constant bit rate, and if so, computes their offsets and numbers.
///
/// At a constant rate frame *n* begins within one byte (in Layer I one slot of four bytes) of *n* times the
/// mean frame length, which is fractional: padding evens it out. The *residual*, the distance from that
/// product to the frame's offset, therefore stays within a window one byte wide. Integer arithmetic prevents
/// rounding errors from adding up over hours of music.
package struct ConstantRate: Sendable, Equatable {
    /// The number of frames that must fit before the rate counts as constant.
    private static let fewestFrames: Int64 = 12
    /// Larger than any file; keeps the products far from overflow.
    private static let largestOffset: Int64 = 1 << 40

    /// The mean frame length is `numerator / denominator` bytes.
    private let numerator: Int64
    private let denominator: Int64
    /// The allowed spread of the residuals, in units of 1/denominator bytes.
    private let window: Int64
    private var low: Int64 = .max
    private var high: Int64 = .min
    private var observedCount: Int64 = 0

    /// Returns `nil` in free format, because its headers state no rate.
    package init?(_ header: FrameHeader) {
        guard header.bitRate > 0 else { return nil }
        numerator = Int64(header.bitRate) * Int64(header.samplesPerFrame)
        denominator = 8 * Int64(header.sampleRate)
        window = denominator * (header.layer == 1 ? 4 : 1)
    }

    /// `true` if enough frames were observed and all of them fit.
    package var isConstant: Bool { observedCount >= Self.fewestFrames && high - low < window }

    /// Records that frame `number` begins `offset` bytes after frame 0.
    package mutating func observe(frame number: Int64, at offset: Int64) {
        guard let residual = residual(of: number, at: offset) else { return }
        low = min(low, residual)
        high = max(high, residual)
        observedCount += 1
    }

    /// The offset of frame `number` from frame 0, to within a byte.
    package func offset(ofFrame number: Int64) -> Int64 {
        guard number < Self.largestOffset / 4096 else { return Self.largestOffset }
        return number * numerator / denominator
    }

    /// The number of the frame at `offset`; `nil` if no frame of this rate and padding can begin there.
    package func frame(at offset: Int64) -> Int64? {
        guard isConstant, (0..<Self.largestOffset).contains(offset) else { return nil }
        let number = (offset * denominator - (low + high) / 2 + numerator / 2) / numerator
        guard let residual = residual(of: number, at: offset),
            max(high, residual) - min(low, residual) < window
        else { return nil }
        return number
    }

    private func residual(of number: Int64, at offset: Int64) -> Int64? {
        guard (0..<Self.largestOffset).contains(offset), (0..<Self.largestOffset / 24).contains(number)
        else { return nil }
        return offset * denominator - number * numerator
    }
}
