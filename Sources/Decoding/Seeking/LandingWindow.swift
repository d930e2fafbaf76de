/// Which bytes a jump to a place that is not known waits for before it can tell where it landed.
///
/// As few as can prove the landing: on a slow line each frame more is heard later.
struct LandingWindow: Equatable {
    /// Frames that must agree before a constant bit rate is believed.
    static let agreeingFrames = 12
    /// The most that is read before the estimate to prime the decoder.
    private static let longestLeadIn: Int64 = 24_576
    /// A longer tag at the end makes landings in the last seconds estimates.
    private static let longestTail: Int64 = 65_536
    /// Frames behind the estimate whose headers tell which of them is nearest to it.
    private static let framesBehind = 3

    /// The offset in the resource where it begins; at the first frame where the music's start is so near.
    let start: Int64
    let byteCount: Int

    /// The window around `offset` of the resource, where frame `wanted` of `map` is expected.
    init(around offset: Int64, frame wanted: Int64, in map: StreamMap) {
        let mean = max(1, map.meanFrameLength)
        var lead: Double
        var behind = Double(Self.framesBehind * map.header.longestFrameByteCount)
        if map.hasConstantRate {
            // Arithmetic leads to the frame where feeding begins. Enough frames must follow it to agree, or lie before
            // it where the music ends, which may be a tag earlier than the resource does.
            let isNearEnd = map.audioEnd.map { $0 - offset < Self.longestTail } ?? false
            let fewest = Int64(isNearEnd ? Self.agreeingFrames + 4 : 0)
            let frames = max(Self.primingFrames(before: wanted, in: map), fewest)
            lead = Double(frames) * mean + Double(FrameHeader.byteCount)
            behind = max(behind, Double(Self.agreeingFrames + 2) * mean - lead)
        } else {
            // Frames before the place may be longer than most, and those that bring the reservoir shorter.
            lead = Double(map.header.primingFrameCount + 2) * mean + Double(4 * map.header.longestReservoir)
        }
        lead = lead.rounded(.up)
        let start = max(offset - min(Int64(lead), Self.longestLeadIn), map.origin)
        self.start = start
        byteCount = Int(offset - start) + Int(behind.rounded(.up))
    }

    /// How many frames before frame `wanted` feeding begins, where all are as long as the mean: enough to prime the
    /// decoder and to fill the bit reservoir, from a multiple of the table's stride on.
    private static func primingFrames(before wanted: Int64, in map: StreamMap) -> Int64 {
        let header = map.header
        let mainData = max(1, Int(map.meanFrameLength) - header.overheadByteCount - 2)
        let reservoir = (header.longestReservoir + mainData - 1) / mainData + 2
        let fewest = Int64(max(header.primingFrameCount, reservoir, 3))
        return fewest + max(0, wanted - fewest) % SeekTable.stride
    }
}
