import COpus
import CVorbis
import Media
import System

/// The codec of a logical Ogg stream, by its first packet. Pure.
enum OggCodec: Equatable {
    case vorbis(VorbisHead)
    case opus(OpusHead)
    case flac(FLACStreamInfo)

    /// The most packets in front of the music that are kept. FLAC's packets after the comments are not
    /// needed.
    static let mostHeaders = 3

    /// `true` if `packet` is header number `number` of the stream.
    func isHeader(_ packet: [UInt8], number: Int) -> Bool {
        switch self {
        // The type of a header is odd (Vorbis I §4.2.1).
        case .vorbis:
            packet.starts(with: [UInt8(truncatingIfNeeded: 2 * number - 1)] + VorbisHead.mark.dropFirst())
        case .opus: packet.starts(with: number == 1 ? OpusHead.mark : OpusHead.commentMark)
        case .flac: !packet.isEmpty && (number == 1) == packet.starts(with: FLACMapping.mark)
        }
    }

    /// `true` if the music begins with `found`, a page behind the first one, although no header so far was
    /// the last one.
    func beginsMusic(_ found: OggPageWalk.Found) -> Bool {
        guard !found.page.isContinued else { return false }
        switch self {
        case .vorbis: return false
        // Pages with headers state 0 (RFC 7845 §4).
        case .opus: return found.page.granule ?? 0 > 0 && !found.body.starts(with: OpusHead.commentMark)
        // A frame begins with its sync code, which no metadata block does. Some encoders do not flag the last
        // block.
        case .flac: return found.body.first == 0xFF
        }
    }

    /// `true` if `packet`, number `number` of the stream, is the last one in front of the music.
    func endsHeaders(_ packet: [UInt8], number: Int) -> Bool {
        switch self {
        case .vorbis: number == 3
        case .opus: number == 2
        // The count in the first packet may be 0 (unknown), and libFLAC ignores it too.
        case .flac: FLACMapping.isLast(packet, number: number)
        }
    }

    /// The most bytes of a packet that are kept.
    var longestPacket: Int {
        switch self {
        case .vorbis, .opus: OggPackets.longestPacket
        case .flac(let stream): max(OggPackets.longestPacket, stream.longestFrame)
        }
    }

    /// Frames per second, both of the PCM and of granule positions.
    var sampleRate: Int {
        switch self {
        case .vorbis(let head): head.sampleRate
        case .opus: OpusHead.sampleRate
        case .flac(let stream): stream.sampleRate
        }
    }

    var format: AudioFormat {
        switch self {
        case .vorbis(let head): Self.format(sampleRate, head.channelCount)
        case .opus(let head): Self.format(sampleRate, head.channelCount)
        case .flac(let stream): stream.format
        }
    }

    private static func format(_ sampleRate: Int, _ channelCount: Int) -> AudioFormat {
        AudioFormat(sampleRate: sampleRate, channelCount: channelCount, sample: .f32)
    }

    /// The number of frames that the first packet states; `nil` if it states none.
    var frameCount: FrameCount? {
        guard case .flac(let stream) = self else { return nil }
        return stream.frameCount
    }

    /// The frames at the start that are not music.
    var skippedFrames: FrameCount {
        switch self {
        case .vorbis, .flac: 0
        case .opus(let head): FrameCount(head.preSkip)
        }
    }

    /// The number of frames before the wanted one at which decoding begins after a seek. FLAC needs none, and
    /// Vorbis is exact after one packet.
    var primingFrames: FrameCount {
        switch self {
        case .vorbis, .flac: 0
        case .opus: OpusHead.primingFrames
        }
    }

    /// `true` if the first packet after a jump only prepares the next one, so that decoding must begin with a
    /// whole packet.
    var primesWithPacket: Bool {
        if case .vorbis = self { true } else { false }
    }

    /// The mean rate that the encoder states or that is usual, in bytes per second.
    var usualBytesPerSecond: Double {
        switch self {
        case .vorbis(let head) where head.bitRate > 0: Double(head.bitRate) / 8
        // 128 kbit/s.
        case .vorbis, .opus: 16_000
        case .flac(let stream): stream.usualBytesPerFrame * Double(stream.sampleRate)
        }
    }

    /// The length of most pages that encoders write, in bytes. Long packets nearly fill the longest possible
    /// page, 65,307 bytes.
    var usualPageByteCount: Int64 {
        switch self {
        case .vorbis, .opus: 8 << 10
        case .flac: 56 << 10
        }
    }

    /// Parses `packet`, the first one of a stream; `nil` if it is of another codec. Throws if the codec is
    /// one of these, but a stream with these properties is not played.
    init?(_ packet: [UInt8]) throws(Refusal) {
        if packet.starts(with: VorbisHead.mark) {
            self = .vorbis(try VorbisHead(packet))
        } else if packet.starts(with: OpusHead.mark) {
            self = .opus(try OpusHead(packet))
        } else if packet.starts(with: FLACMapping.mark) {
            self = .flac(try FLACMapping.stream(packet))
        } else {
            return nil
        }
    }

    /// The bytes in front of the list of comments in the second packet.
    var commentsMarkByteCount: Int {
        switch self {
        case .vorbis: VorbisHead.markByteCount
        case .opus: OpusHead.mark.count
        case .flac: FLACMapping.blockHeadByteCount
        }
    }

    /// The list of comments in `packet`, the second one of a stream.
    func comments(in packet: [UInt8]) -> [UInt8] {
        if case .flac = self {
            FLACMapping.comments(in: packet)
        } else {
            Array(packet.dropFirst(commentsMarkByteCount))
        }
    }

    /// The name of the codec whose first packet is `packet`; `nil` if it is unknown.
    static func name(of packet: [UInt8]) -> SafeText? {
        names.first { packet.starts(with: $0.mark) }?.name
    }

    /// Other codecs that are common in Ogg, for messages.
    private static let names: [(mark: [UInt8], name: SafeText)] = [
        (Array("Speex   ".utf8), "Speex"), ([0x80] + Array("theora".utf8), "Theora (video)"),
        (Array("BBCD\0".utf8), "Dirac (video)"),
        (Array("CELT    ".utf8), "CELT"), (Array("PCM     ".utf8), "PCM"),
    ]
}

extension OggCodec {
    private static let vorbisLibrary = OptionalLibrary { cvorbis_load().map { String(cString: $0) } }
    private static let opusLibrary = OptionalLibrary { copus_load().map { String(cString: $0) } }

    /// Opens the library of the codec, if it is not open yet, and creates a decoder.
    ///
    /// `headers` are the packets in front of the music. Throws `.missingLibrary` if the library is not
    /// installed.
    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec {
        let made: (any PacketCodec)?
        switch self {
        case .vorbis(let head):
            try await Self.vorbisLibrary.load("libvorbis", install: "libvorbis0a to play Vorbis")
            made = VorbisHandle(head, format, headers: headers)
        case .opus(let head):
            try await Self.opusLibrary.load("libopus", install: "libopus0 to play Opus")
            made = OpusHandle(head, format)
        case .flac(let stream):
            made = try await FLACHandle.opened(for: stream, of: subject)
        }
        guard let made else { throw Refusal.damaged }
        return made
    }
}

/// The identification header of Vorbis (Vorbis I §4.2.2).
struct VorbisHead: Equatable {
    /// The type of the packet, and the name of the codec.
    static let mark = [1] + Array("vorbis".utf8)
    static let markByteCount = mark.count
    /// The most frames of a packet: half of the longest block (Vorbis I §4.2.2).
    static let longestPacket = 4_096
    private static let byteCount = 30

    let channelCount: Int
    let sampleRate: Int
    /// In bits per second; 0 if it is not stated, or impossible.
    let bitRate: Int

    init(_ packet: [UInt8]) throws(Refusal) {
        guard packet.count >= Self.byteCount, packet[7..<11].allSatisfy({ $0 == 0 }), packet[29] & 1 == 1
        else {
            throw .damaged
        }
        func number(_ index: Int) -> Int {
            Int(ChunkWalk.number(packet[index..<index + 4], isBigEndian: false))
        }
        channelCount = try OpusHead.playable(channelCount: Int(packet[11]), of: "Vorbis")
        sampleRate = number(12)
        guard PCMLayout.rates.contains(sampleRate) else {
            throw Refusal("Ogg Vorbis with an impossible rate")
        }
        let nominal = number(20)
        bitRate = nominal < 2_000_000 ? nominal : 0
    }

    /// The index in Vorbis' order (Vorbis I §4.3.9) of each channel in the order of WAVE files, which PCM has
    /// here.
    static func order(of channelCount: Int) -> [Int] {
        switch channelCount {
        case 3: [0, 2, 1]
        case 5: [0, 2, 1, 3, 4]
        case 6: [0, 2, 1, 5, 3, 4]
        case 7: [0, 2, 1, 6, 5, 3, 4]
        case 8: [0, 2, 1, 7, 5, 6, 3, 4]
        default: Array(0..<channelCount)
        }
    }
}

/// The identification header of Opus (RFC 7845 §5.1).
struct OpusHead: Equatable {
    static let mark = Array("OpusHead".utf8)
    static let commentMark = Array("OpusTags".utf8)
    /// The rate of granule positions, at which all Opus is decoded.
    static let sampleRate = 48_000
    /// The most frames of a packet: 120 ms.
    static let longestPacket = 5_760
    /// Opus is off by up to 1,273 steps of 16-bit samples after 80 ms, and exact after another second
    /// (measured).
    static let primingFrames = FrameCount(sampleRate) * 1_080 / 1_000
    private static let byteCount = 19

    let channelCount: Int
    /// The frames at the start that are not music.
    let preSkip: Int
    /// The gain that must always be applied, in 1/256 dB.
    let gain: Int
    let streamCount: Int
    let coupledCount: Int
    /// For each channel in the order of WAVE files, the index of its decoded channel; 255 for silence.
    let mapping: [UInt8]

    init(_ packet: [UInt8]) throws(Refusal) {
        // The upper four bits of the version count incompatible changes.
        guard packet.count >= Self.byteCount, packet[8] < 16 else { throw .damaged }
        channelCount = try Self.playable(channelCount: Int(packet[9]), of: "Opus")
        preSkip = Int(packet[10]) | Int(packet[11]) << 8
        gain = Int(Int16(bitPattern: UInt16(packet[16]) | UInt16(packet[17]) << 8))
        switch packet[18] {
        case 0:
            guard channelCount <= 2 else { throw .damaged }
            streamCount = 1
            coupledCount = channelCount - 1
            mapping = Array(0..<UInt8(channelCount))
        case let family where family == 1 || family == 255:
            let table = packet.dropFirst(Self.byteCount + 2).prefix(channelCount)
            guard table.count == channelCount else { throw .damaged }
            streamCount = Int(packet[19])
            coupledCount = Int(packet[20])
            let decoded = streamCount + coupledCount
            guard streamCount > 0, coupledCount <= streamCount, decoded <= 255,
                table.allSatisfy({ $0 == 255 || $0 < decoded })
            else { throw .damaged }
            let order = family == 1 ? VorbisHead.order(of: channelCount) : Array(0..<channelCount)
            mapping = order.map { table[table.startIndex + $0] }
        case 2, 3: throw Refusal("Ogg Opus with ambisonics – Reprise plays loudspeakers' channels only")
        default: throw Refusal("Ogg Opus with an unknown order of channels")
        }
    }

    /// Returns `count` if that many channels are played.
    static func playable(channelCount count: Int, of codec: SafeText) throws(Refusal) -> Int {
        guard AudioFormat.channelCounts.contains(count) else {
            throw Refusal(
                "Ogg " + codec + SafeText(" with \(count) channels") + " – Reprise plays 1 to 8 only"
            )
        }
        return count
    }

    /// The number of frames in `packet` (RFC 6716 §3.1); 0 if `packet` is not Opus, or a header that comes
    /// again.
    static func frames(in packet: [UInt8]) -> Int {
        guard let first = packet.first, !packet.starts(with: mark), !packet.starts(with: commentMark) else {
            return 0
        }
        let code = Int(first >> 3)
        // SILK has 10 to 60 ms, the hybrid mode 10 and 20 ms, CELT 2.5 to 20 ms.
        let size =
            switch code {
            case 0..<12: [480, 960, 1_920, 2_880][code % 4]
            case 12..<16: [480, 960][code % 2]
            default: [120, 240, 480, 960][code % 4]
            }
        let count: Int
        switch first & 3 {
        case 0: count = 1
        case 3: count = packet.count > 1 ? Int(packet[1] & 0x3F) : 0
        default: count = 2
        }
        return count * size <= longestPacket ? count * size : 0
    }
}
