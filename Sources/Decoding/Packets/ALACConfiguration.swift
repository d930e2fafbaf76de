import Media

/// The settings of an ALAC stream, as the box `alac` of an MP4 file states them
/// (ALACMagicCookieDescription.txt). Pure.
struct ALACConfiguration: CodecConfiguration {
    /// The bits of a sample. A CAF file states them by their place in this list, counted from 1.
    private static let widths = [16, 20, 24, 32]
    /// The most frames of a packet: as many as all encoders write, and as libsndfile takes.
    private static let mostFrames = 4_096
    private static let byteCount = 24

    let packetFrames: Int
    let sampleRate: Int
    let channelCount: Int
    /// The bits of a sample.
    let width: Int
    let triedPackets: Int64 = 0
    /// The settings without the version of the box.
    private let bytes: [UInt8]

    /// Parses the `content` of the box.
    init(_ content: some Collection<UInt8>) throws(Refusal) {
        bytes = Array(content.dropFirst(4).prefix(Self.byteCount))
        var reader = BigEndianReader(bytes)
        guard bytes.count == Self.byteCount, let frames = reader.next(4), let version = reader.next(1),
            let width = reader.next(1), reader.next(3) != nil, let channelCount = reader.next(1),
            reader.take(10).count == 10, let rate = reader.next(4)
        else { throw .damaged }
        packetFrames = Int(frames)
        sampleRate = Int(rate)
        self.channelCount = Int(channelCount)
        self.width = Int(width)
        guard version == 0, (1...Self.mostFrames).contains(packetFrames), Self.widths.contains(self.width),
            AudioFormat.channelCounts.contains(self.channelCount), PCMLayout.rates.contains(sampleRate)
        else { throw Refusal("ALAC with settings out of range (damaged)") }
    }

    func codec(trying packets: [ArraySlice<UInt8>]) async throws -> any PacketCodec {
        try await ALACHandle.make(self)
    }

    /// The loudspeakers of the channels, in the order of a packet (ALACAudioTypes.h).
    var channels: [ChannelPosition] {
        let front: [ChannelPosition] = [.frontCenter, .frontLeft, .frontRight]
        return switch channelCount {
        case 1, 2: ChannelPosition.customary(channelCount)
        case 3: front
        case 4: front + [.rearCenter]
        case 5: front + [.rearLeft, .rearRight]
        case 6: front + [.rearLeft, .rearRight, .lowFrequency]
        case 7: front + [.rearLeft, .rearRight, .rearCenter, .lowFrequency]
        default:
            [.frontCenter, .frontLeftOfCenter, .frontRightOfCenter, .frontLeft, .frontRight, .rearLeft]
                + [.rearRight, .lowFrequency]
        }
    }

    var format: AudioFormat {
        let channels = ChannelPosition.allCases.filter(channels.contains)
        return AudioFormat(sampleRate: sampleRate, channels: channels, sample: width == 16 ? .s16 : .s32)
    }

    /// The most bytes of a packet: an encoder that cannot pack the samples stores them after some headers.
    var longestPacket: Int { packetFrames * channelCount * 4 + 1_024 }

    /// A CAF file (Apple Core Audio Format Specification 1.0) up to its only packet, which has
    /// `longestPacket` bytes.
    var fileHead: [UInt8] {
        func number(_ value: some BinaryInteger, _ byteCount: Int) -> [UInt8] {
            (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func chunk(_ name: String, _ content: [UInt8], andMore more: Int = 0) -> [UInt8] {
            Array(name.utf8) + number(content.count + more, 8) + content
        }
        let flag = (Self.widths.firstIndex(of: width) ?? 0) + 1
        let description =
            number(Double(sampleRate).bitPattern, 8) + Array("alac".utf8) + number(flag, 4) + number(0, 4)
            + number(packetFrames, 4) + number(channelCount, 4) + number(0, 4)
        // The numbers of packets and frames, no frames to trim, and the packet's size: 7 bits in each byte.
        let size = [14, 7, 0].map { UInt8(longestPacket >> $0 & 0x7F) | ($0 > 0 ? 0x80 : 0) }
        let packets = number(1, 8) + number(packetFrames, 8) + number(0, 8) + size
        return Array("caff".utf8) + number(1, 2) + number(0, 2) + chunk("desc", description)
            + chunk("kuki", bytes) + chunk("pakt", packets)
            + chunk("data", number(0, 4), andMore: longestPacket)
    }
}
