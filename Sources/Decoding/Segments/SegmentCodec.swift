import Media

/// The codec of the packets in segments, with its settings.
enum SegmentCodec {
    /// AAC in frames like this one.
    case adts(ADTSHeader)
    /// Frames like this one.
    case mpeg(FrameHeader)
    /// Those of a track whose initialisation section has this head.
    case mp4(MP4Head, MP4Track)

    /// `true` if packets of `next` can follow in the same decoder.
    func isContinued(by next: SegmentCodec) -> Bool {
        switch (self, next) {
        case (.adts(let header), .adts(let next)): header.isConsistent(with: next)
        case (.mpeg(let header), .mpeg(let next)): header.isAlike(next)
        case (.mp4(_, let track), .mp4(_, let next)):
            next.configuration.map { track.configuration?.isEqual(to: $0) == true } ?? false
        default: false
        }
    }

    /// The number of first packets that `decoder` needs.
    var triedPackets: Int {
        switch self {
        case .mpeg: 1
        case .adts(let header): (try? header.configuration()).map { Int($0.triedPackets) } ?? 1
        case .mp4(_, let track): max(1, Int(track.configuration?.triedPackets ?? 1))
        }
    }

    /// A decoder for the packets, of which `packets` are the first ones. `subject` names the stream in
    /// errors.
    func decoder(trying packets: [ArraySlice<UInt8>], of subject: SafeText) async throws -> any PacketCodec {
        switch self {
        case .mpeg(let header): return try MPEGCodec(header, subject: subject)
        case .adts(let header): return try await header.configuration().codec(trying: packets)
        case .mp4(_, let track):
            guard let configuration = track.configuration else { throw Refusal.damaged }
            return try await configuration.codec(trying: packets)
        }
    }

    /// The number of frames at the start of a stream that are not music, if `codec` decodes it.
    func skippedFrames(in codec: any PacketCodec) -> FrameCount {
        switch self {
        case .mpeg: 0
        // The first packet only overlaps with the next one.
        case .adts: FrameCount(codec.packetFrames)
        case .mp4(let head, let track):
            head.parts(of: track, in: codec, packetCount: nil)[0].frames.lowerBound
        }
    }

    /// The number of frames that an encoder has added before the music of a part that begins with `packets`
    /// and follows another one; 0 if its first packet goes on where that one ended. `codec` is a fresh
    /// decoder for them.
    ///
    /// MP4 may state it. Otherwise it shows in the sound: what an encoder has added is silence, so that the
    /// first packet, which overlaps with no other one then, is much quieter than the second one.
    func addedFrames(before packets: [ArraySlice<UInt8>], in codec: any PacketCodec) -> FrameCount {
        if case .mpeg = self { return 0 }
        if case .mp4(let head, let track) = self,
            head.tags.gapless != nil || track.playedEdits.contains(where: { ($0.start ?? 0) > 0 })
        {
            return skippedFrames(in: codec)
        }
        let powers = packets.prefix(2).map { codec.power(of: $0) }
        return powers.count == 2 && powers[0] * 16 < powers[1] ? skippedFrames(in: codec) : 0
    }
}

extension PacketCodec {
    /// Decodes `packet`; the mean square of its samples.
    fileprivate func power(of packet: ArraySlice<UInt8>) -> Double {
        let count = decode(packet)
        guard count > 0, format.sample == .f32 else { return 0 }
        var samples = [Float](repeating: 0, count: count * format.channelCount)
        samples.withUnsafeMutableBytes { copy(0..<count, into: $0) }
        return samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    }
}
