import COpus
import CVorbis
import Media
import System

/// The codec of a logical Ogg stream, as its first packet states it. Pure, except `handle`.
protocol OggCodec: Sendable {
    /// Parses the first packet of a stream, which begins with the mark of the codec. Throws if a stream with
    /// these properties is not played.
    init(_ packet: [UInt8]) throws(Refusal)

    /// The format of the PCM; granule positions count its frames.
    var format: AudioFormat { get }
    /// The most bytes of a packet that are kept.
    var longestPacket: Int { get }
    /// The number of frames that the first packet states; `nil` if it states none.
    var frameCount: FrameCount? { get }
    /// The frames at the start that are not music.
    var skippedFrames: FrameCount { get }
    /// The number of frames before the wanted one at which decoding begins after a seek.
    var primingFrames: FrameCount { get }
    /// `true` if the first packet after a jump only prepares the next one, so that decoding must begin with a
    /// whole packet.
    var primesWithPacket: Bool { get }
    /// The mean rate that the encoder states or that is usual, in bytes per second.
    var usualBytesPerSecond: Double { get }
    /// The length of most pages that encoders write, in bytes.
    var usualPageByteCount: Int64 { get }

    /// `true` if `packet` is header number `number` of the stream.
    func isHeader(_ packet: [UInt8], number: Int) -> Bool
    /// `true` if `packet`, number `number` of the stream, is the last one in front of the music.
    func endsHeaders(_ packet: [UInt8], number: Int) -> Bool
    /// `true` if the music begins with `found`, a page behind the first one that continues no packet,
    /// although no header so far was the last one.
    func beginsMusic(_ found: OggPageWalk.Found) -> Bool
    /// The list of comments in `packet`, the second one of a stream.
    func comments(in packet: [UInt8]) -> ArraySlice<UInt8>

    /// Opens the library of the codec, if it is not open yet, and creates a decoder.
    ///
    /// `headers` are the packets in front of the music. Throws `.missingLibrary` if the library is not
    /// installed.
    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec
}

/// The values that fit most codecs.
extension OggCodec {
    var longestPacket: Int { OggPackets.longestPacket }
    var frameCount: FrameCount? { nil }
    var skippedFrames: FrameCount { 0 }
    var primingFrames: FrameCount { 0 }
    var primesWithPacket: Bool { false }
    /// 128 kbit/s.
    var usualBytesPerSecond: Double { 16_000 }
    var usualPageByteCount: Int64 { 8 << 10 }

    func beginsMusic(_ found: OggPageWalk.Found) -> Bool { false }
}

/// The codecs in Ogg, by the bytes with which their first packets begin.
enum OggCodecs {
    private static let played: [(mark: [UInt8], codec: any OggCodec.Type)] = [
        (VorbisHead.mark, VorbisHead.self), (OpusHead.mark, OpusHead.self),
        (FLACMapping.mark, FLACMapping.self),
    ]
    /// Other codecs that are common in Ogg, for messages.
    private static let others: [(mark: [UInt8], name: SafeText)] = [
        (Array("Speex   ".utf8), "Speex"), ([0x80] + Array("theora".utf8), "Theora (video)"),
        (Array("BBCD\0".utf8), "Dirac (video)"),
        (Array("CELT    ".utf8), "CELT"), (Array("PCM     ".utf8), "PCM"),
    ]

    /// The codec of the stream whose first packet is `packet`. Throws if it is not played; for a codec that
    /// is never played, throws `earlier`, the refusal of an earlier stream, if there is one.
    static func codec(of packet: [UInt8], after earlier: Refusal? = nil) throws(Refusal) -> any OggCodec {
        if let row = played.first(where: { packet.starts(with: $0.mark) }) {
            return try row.codec.init(packet)
        }
        let name = others.first { packet.starts(with: $0.mark) }?.name ?? "an unknown codec"
        throw earlier ?? Refusal("Ogg with " + name, played: "Ogg with Vorbis, Opus or FLAC")
    }
}

/// The identification header of Vorbis (Vorbis I §4.2.2).
struct VorbisHead: OggCodec {
    /// The type of the packet, and the name of the codec.
    static let mark = [1] + Array("vorbis".utf8)
    /// The most frames of a packet: half of the longest block (Vorbis I §4.2.2).
    static let longestPacket = 4_096
    private static let byteCount = 30
    private static let library = OptionalLibrary { cvorbis_load().map { String(cString: $0) } }

    let channelCount: Int
    let sampleRate: Int
    /// In bits per second; 0 if it is not stated, or impossible.
    let bitRate: Int

    init(_ packet: [UInt8]) throws(Refusal) {
        guard packet.count >= Self.byteCount, packet[7..<11].allSatisfy({ $0 == 0 }), packet[29] & 1 == 1
        else { throw .damaged }
        func number(_ index: Int) -> Int {
            Int(packet[index..<index + 4].littleEndianNumber)
        }
        channelCount = try OpusHead.playable(channelCount: Int(packet[11]), of: "Vorbis")
        sampleRate = number(12)
        guard PCMLayout.rates.contains(sampleRate) else {
            throw Refusal("Ogg Vorbis with an impossible rate")
        }
        let nominal = number(20)
        bitRate = nominal < 2_000_000 ? nominal : 0
    }

    var format: AudioFormat {
        AudioFormat(sampleRate: sampleRate, channelCount: channelCount, sample: .f32)
    }

    /// Vorbis is exact after one packet.
    var primesWithPacket: Bool { true }

    var usualBytesPerSecond: Double { bitRate > 0 ? Double(bitRate) / 8 : 16_000 }

    func comments(in packet: [UInt8]) -> ArraySlice<UInt8> { packet.dropFirst(Self.mark.count) }

    /// The type of a header is odd (Vorbis I §4.2.1).
    func isHeader(_ packet: [UInt8], number: Int) -> Bool {
        packet.starts(with: [UInt8(truncatingIfNeeded: 2 * number - 1)] + Self.mark.dropFirst())
    }

    func endsHeaders(_ packet: [UInt8], number: Int) -> Bool { number == 3 }

    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec {
        try await Self.library.load("libvorbis", install: "libvorbis0a to play Vorbis")
        guard let handle = VorbisHandle(self, format, headers: headers) else { throw Refusal.damaged }
        return handle
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
struct OpusHead: OggCodec {
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
    private static let library = OptionalLibrary { copus_load().map { String(cString: $0) } }

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

    var format: AudioFormat {
        AudioFormat(sampleRate: Self.sampleRate, channelCount: channelCount, sample: .f32)
    }

    var skippedFrames: FrameCount { FrameCount(preSkip) }

    var primingFrames: FrameCount { Self.primingFrames }

    func comments(in packet: [UInt8]) -> ArraySlice<UInt8> { packet.dropFirst(Self.mark.count) }

    func isHeader(_ packet: [UInt8], number: Int) -> Bool {
        packet.starts(with: number == 1 ? Self.mark : Self.commentMark)
    }

    func endsHeaders(_ packet: [UInt8], number: Int) -> Bool { number == 2 }

    /// Pages with headers state 0 (RFC 7845 §4).
    func beginsMusic(_ found: OggPageWalk.Found) -> Bool {
        found.page.granule ?? 0 > 0 && !found.body.starts(with: Self.commentMark)
    }

    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec {
        try await Self.library.load("libopus", install: "libopus0 to play Opus")
        guard let handle = OpusHandle(self, format) else { throw Refusal.damaged }
        return handle
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
