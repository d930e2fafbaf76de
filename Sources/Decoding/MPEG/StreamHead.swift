import Media

/// The head of an MPEG stream, after the tags in front: where the audio begins, and its format.
struct StreamHead {
    /// The number of frames to examine, if the resource has as many, to decide if the bit rate is constant or
    /// variable.
    private static let wantedFrames = 16

    /// The offset of the first frame, music or the Xing header, where feeding begins.
    var firstFrame: Int64
    /// The bytes that were read from `firstFrame` on.
    var bytes: [UInt8]
    /// The offset of the first frame that is played.
    var origin: Int64
    /// The header of the first frame that is played.
    var header: FrameHeader
    var xing: XingHeader?
    /// The frames that are played, as far as `bytes` reach.
    var frames: [FrameWalker.Frame]

    /// Reads as many frames as needed from `start`, whose tags were skipped; `nil` if there is no MPEG audio.
    static func read(_ start: inout StreamStart) async throws -> StreamHead? {
        while true {
            let all = Array(FrameWalker(start.bytes, isWhole: start.isWhole))
            let frames = Array(all.prefix { $0.header.isConsistent(with: all[0].header) })
            if frames.count <= wantedFrames, try await start.grow(inFirstRequest: !frames.isEmpty) {
                continue
            }
            guard let first = frames.first, first.index < StreamStart.reach else { return nil }
            let bytes = Array(start.bytes[first.index...])
            let xing = XingHeader(bytes[...], header: first.header)
            let played = frames.dropFirst(xing?.isSilent == true ? 1 : 0)
            let origin = played.first?.index ?? first.index + first.byteCount
            return StreamHead(
                firstFrame: start.offset + Int64(first.index),
                bytes: bytes,
                origin: start.offset + Int64(origin),
                header: played.first?.header ?? first.header,
                xing: xing,
                frames: Array(played)
            )
        }
    }
}
