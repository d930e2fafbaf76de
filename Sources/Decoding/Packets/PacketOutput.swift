import Media

/// Passes on the frames of a stream's packets: it numbers them, trims both ends, holds those for which a
/// buffer has no room, and replaces missing and damaged ones by silence. It neither reads nor waits.
///
/// A class, so that the codec and what is held of its last packet have one owner.
final class PacketOutput {
    let codec: any PacketCodec
    /// The format of the frames that `pass` writes next.
    private(set) var format: AudioFormat
    /// The number of the frame after all that were decoded or are missing.
    private(set) var position: FrameCount = 0
    /// The frames to play; all others are only decoded.
    var music: Range<FrameCount> = 0..<FrameCount.max
    /// The frames of the last packet that were not passed on yet, and the silence after them.
    private var held = 0..<0
    private var silence: FrameCount = 0

    init(_ codec: any PacketCodec) {
        self.codec = codec
        format = codec.format
    }

    /// Continues with a packet that begins at `position` and does not follow the last one, and plays the
    /// frames of `music`.
    func restart(at position: FrameCount, playing music: Range<FrameCount>) {
        codec.reset()
        self.position = position
        self.music = music
        held = 0..<0
        silence = 0
    }

    /// The next packet begins at `position`: the container states it.
    func move(to position: FrameCount) { self.position = position }

    /// Adds `frames` to the number of the next frame, which was a wrong estimate, and moves the start of the
    /// music with it.
    func shift(by frames: FrameCount) {
        position = max(0, position + frames)
        music = max(0, music.lowerBound + frames)..<FrameCount.max
    }

    /// `true` if `pass` has no frames to write.
    var isEmpty: Bool { held.isEmpty && silence == 0 }

    /// `true` if all frames to play were decoded.
    var isAtEnd: Bool { position >= music.upperBound }

    /// Writes as many frames into `pcm` as are held and fit; returns their number.
    func pass(into pcm: UnsafeMutableRawBufferPointer) -> Int {
        let width = format.bytesPerFrame
        let room = pcm.count / width
        let count = min(room, held.count)
        if count > 0 {
            codec.copy(held.prefix(count), into: pcm)
            held = held.dropFirst(count)
            return count
        }
        let silent = Int(min(FrameCount(room), silence))
        UnsafeMutableRawBufferPointer(rebasing: pcm[..<(silent * width)])
            .initializeMemory(as: UInt8.self, repeating: 0)
        silence -= FrameCount(silent)
        return silent
    }

    /// Decodes the next packet. If it is damaged, `expected` frames of silence replace it, and the result is
    /// `false`.
    ///
    /// Call it only if `isEmpty`.
    @discardableResult
    func decode(_ packet: ArraySlice<UInt8>, expecting expected: @autoclosure () -> FrameCount) -> Bool {
        let width = FrameCount(codec.packetFrames)
        let count = codec.decode(packet)
        guard count > 0 else {
            let missing = expected()
            skip(missing)
            return missing == 0
        }
        format = codec.format
        // The packets before this one count as long as it: SBR may begin later, as in a radio stream.
        if codec.packetFrames != width { position = position / width * FrameCount(codec.packetFrames) }
        let range = position..<position + FrameCount(count)
        let wanted = range.clamped(to: music)
        held = Int(wanted.lowerBound - position)..<Int(wanted.upperBound - position)
        position = range.upperBound
        return true
    }

    /// Replaces `count` missing frames by silence.
    func skip(_ count: FrameCount) {
        guard count > 0 else { return }
        silence += FrameCount((position..<position + count).clamped(to: music).count)
        position += count
    }
}

/// Streams whose packets have equally many frames, so that a packet's number states its position.
extension PacketOutput {
    var packetFrames: FrameCount { FrameCount(codec.packetFrames) }

    /// The number of the next packet.
    var packet: Int64 { position / packetFrames }

    /// The packet with which decoding must begin so that `frame` is exact.
    func firstPacket(toPlay frame: FrameCount) -> Int64 {
        max(0, (frame - codec.primingFrames) / packetFrames)
    }

    /// Continues with packet `number`, and plays the frames of `music`.
    func restart(atPacket number: Int64, playing music: Range<FrameCount>) {
        restart(at: number * packetFrames, playing: music)
    }
}
