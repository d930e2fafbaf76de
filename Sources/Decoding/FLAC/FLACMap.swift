import Media

/// The known places of a FLAC stream: where it begins and ends, what its own seek table states, which is not
/// verified, and what decoding and seeking found. Pure.
struct FLACMap {
    /// Once the frames prove to state no position, the places that the stream states can't be verified.
    var stream: FLACStreamInfo {
        didSet { if stream.numbersVaryingBlocks, !oldValue.numbersVaryingBlocks { places = PlaceTable() } }
    }
    /// The offset of the first frame.
    let audioStart: Int64
    /// The offset where the resource ends; `nil` if unknown.
    var audioEnd: Int64?
    /// The position of the first PCM frame: not 0 in a recording of a stream that had begun before.
    let origin: FrameCount
    let startTime: Duration
    /// The position after the last PCM frame, counted at the end or else stated; `nil` if unknown.
    var endPosition: FrameCount?
    private var places = PlaceTable()

    init(
        _ stream: FLACStreamInfo,
        audioStart: Int64,
        audioEnd: Int64?,
        origin: FrameCount = 0,
        startTime: Duration = .zero,
        seekPoints: [PlaceTable.Place] = []
    ) {
        self.stream = stream
        self.audioStart = audioStart
        self.audioEnd = audioEnd
        self.origin = origin
        self.startTime = startTime
        endPosition = stream.frameCount
        for point in seekPoints { places.record(point) }
    }

    /// Records that a frame was found at `place`. If that is past the end, the stream states too few PCM
    /// frames.
    mutating func record(_ place: PlaceTable.Place) {
        places.record(place)
        if let endPosition, place.position >= endPosition { self.endPosition = nil }
    }

    /// The last frame of the resource ends at `end`: the stream may state too few PCM frames, or no number.
    mutating func note(end: FrameCount) { endPosition = max(end, endPosition ?? 0) }

    /// Drops all places: one of them is wrong.
    mutating func distrust() { places = PlaceTable() }

    /// The nearest known places at or before `position`, and after it. The end of the resource is one of
    /// them, if its position is known; `above` is `nil` if there is none.
    func around(_ position: FrameCount) -> (below: PlaceTable.Place, above: PlaceTable.Place?) {
        let start = PlaceTable.Place(position: origin, offset: audioStart)
        var end: PlaceTable.Place?
        if let endPosition, let audioEnd, endPosition > position {
            end = PlaceTable.Place(position: endPosition, offset: audioEnd)
        }
        return places.around(position, between: start, and: end)
    }

    /// The mean number of bytes for one PCM frame.
    var bytesPerFrame: Double {
        // No PCM frame takes more bytes than the longest frame has, whatever a server states.
        min(measuredBytesPerFrame, Double(stream.longestFrame))
    }

    private var measuredBytesPerFrame: Double {
        if let audioEnd, let endPosition, audioEnd > audioStart, endPosition > origin {
            return Double(audioEnd - audioStart) / Double(endPosition - origin)
        }
        if let last = places.places.last, last.position > origin, last.offset > audioStart {
            return Double(last.offset - audioStart) / Double(last.position - origin)
        }
        return stream.usualBytesPerFrame
    }

    /// The length of the music in PCM frames; estimated from the length of the resource if it is not known.
    var estimatedCount: FrameCount? {
        if let frameCount { return frameCount }
        guard let audioEnd, audioEnd > audioStart else { return nil }
        return FrameCount(min(Double(audioEnd - audioStart) / bytesPerFrame, Self.farthest))
    }

    /// Estimates are at most this, so that they can be converted and added.
    private static let farthest = Double(PlaceTable.farthest)

    /// The estimated offset of the PCM frame `position`.
    func offset(of position: FrameCount) -> Int64 {
        let (below, above) = around(position)
        let rate =
            above.map { Double($0.offset - below.offset) / Double($0.position - below.position) }
            ?? bytesPerFrame
        return below.offset + Int64(min(Double(max(0, position - below.position)) * rate, Self.farthest))
    }

    // MARK: Storing

    /// The places, to be stored with the entry: without those that the stream states behind the end of a cut
    /// file.
    func stored() -> [UInt8] {
        StoredPlaces(places.places.filter { $0.offset < audioEnd ?? .max }).bytes(for: key)
    }

    /// Takes the places that an earlier session stored for the same stream.
    mutating func restore(_ table: [UInt8]) {
        guard let stored = StoredPlaces(table, for: key, before: audioEnd) else { return }
        if !stored.places.isEmpty { places = PlaceTable(stored) }
    }

    private var key: [Int64] { stream.bytes.map(Int64.init) + [audioStart, audioEnd ?? 0] }
}

extension FLACMap: ChainedStream {
    var format: AudioFormat { stream.format }

    var frameCount: FrameCount? { endPosition.map { max(0, $0 - origin) } }

    /// The decoder is not kept, but many places may be.
    var memory: Int { 64 << 10 }

    var audio: ByteRange? { audioEnd.map { audioStart..<max(audioStart, $0) } }

    var duration: Duration? { estimatedCount.map(format.duration) }

    var isDurationExact: Bool { endPosition != nil }

    var bytesPerSecond: Double { bytesPerFrame * Double(stream.sampleRate) }

    func offsets(at shares: [Double]) -> [Int64]? {
        estimatedCount.map { count in shares.map { offset(of: origin + FrameCount(Double(count) * $0)) } }
    }
}
