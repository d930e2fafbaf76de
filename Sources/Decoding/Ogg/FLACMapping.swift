import Media

/// The packets of FLAC in Ogg (RFC 9639 §10.1): the first one has STREAMINFO, the next ones have one other
/// metadata block each, comments first, and all later ones have a frame each. Pure.
struct FLACMapping: OggCodec {
    static let mark = Array("\u{7F}FLAC".utf8)
    /// The mark, a version of two numbers, the number of packets with metadata, and the mark of a FLAC
    /// stream.
    private static let prefixByteCount = 13
    private static let majorVersion: UInt8 = 1
    private static let commentsKind: UInt8 = 4
    /// The length of the head of a block.
    private static let headByteCount = 4

    let stream: FLACStreamInfo

    init(_ packet: [UInt8]) throws(Refusal) {
        let block = packet.dropFirst(Self.prefixByteCount)
        guard packet.dropFirst(Self.mark.count).first == Self.majorVersion,
            packet.prefix(Self.prefixByteCount).suffix(4).elementsEqual("fLaC".utf8),
            block.first.map(Self.kind) == 0,
            let stream = FLACStreamInfo(
                block.dropFirst(Self.headByteCount).prefix(FLACStreamInfo.byteCount)
            )
        else { throw .damaged }
        guard PCMLayout.rates.contains(stream.sampleRate) else {
            throw Refusal("Ogg FLAC with an impossible rate")
        }
        self.stream = stream
    }

    var format: AudioFormat { stream.format }

    var longestPacket: Int { max(OggPackets.longestPacket, stream.longestFrame) }

    var frameCount: FrameCount? { stream.frameCount }

    var usualBytesPerSecond: Double { stream.usualBytesPerFrame * Double(stream.sampleRate) }

    /// Long packets nearly fill the longest possible page, 65,307 bytes.
    var usualPageByteCount: Int64 { 56 << 10 }

    func isHeader(_ packet: [UInt8], number: Int) -> Bool {
        !packet.isEmpty && (number == 1) == packet.starts(with: Self.mark)
    }

    /// The flag of the last block counts, and not the number of blocks in the first packet: it may be 0
    /// (unknown), and libFLAC ignores it too.
    func endsHeaders(_ packet: [UInt8], number: Int) -> Bool {
        let block = packet.dropFirst(number == 1 ? Self.prefixByteCount : 0)
        return block.first.map { $0 & 0x80 != 0 } ?? false
    }

    /// A frame begins with its sync code, which no metadata block does. Some encoders do not flag the last
    /// block.
    func beginsMusic(_ found: OggPageWalk.Found) -> Bool { found.body.first == 0xFF }

    /// Empty if `packet` is another block.
    func comments(in packet: [UInt8]) -> ArraySlice<UInt8> {
        packet.first.map(Self.kind) == Self.commentsKind ? packet.dropFirst(Self.headByteCount) : []
    }

    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec {
        try await FLACHandle.opened(for: stream, of: subject)
    }

    private static func kind(_ byte: UInt8) -> UInt8 { byte & 0x7F }
}
