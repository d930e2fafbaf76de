import COpus
import Media

/// Owns a libopus decoder (opus_multistream.h).
final class OpusHandle: PacketCodec {
    let name: SafeText = "Opus"
    let format: AudioFormat
    let packetFrames = OpusHead.longestPacket
    let primingFrames = OpusHead.primingFrames
    private let decoder: OpaquePointer
    private let channelCount: Int
    private var decoded: [Float]

    /// `nil` if libopus refuses the head.
    init?(_ head: OpusHead, _ format: AudioFormat) {
        var status: CInt = 0
        let made = opus_multistream_decoder_create(
            Int32(OpusHead.sampleRate),
            CInt(head.channelCount),
            CInt(head.streamCount),
            CInt(head.coupledCount),
            head.mapping,
            &status
        )
        guard let made else { return nil }
        decoder = made
        channelCount = head.channelCount
        self.format = format
        decoded = Array(repeating: 0, count: packetFrames * channelCount)
        _ = copus_set_gain(decoder, CInt(head.gain))
    }

    deinit { opus_multistream_decoder_destroy(decoder) }

    func reset() { _ = copus_reset(decoder) }

    func frames(in packets: ArraySlice<[UInt8]>) -> Int {
        packets.reduce(0) { $0 + OpusHead.frames(in: $1) }
    }

    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        // libopus takes an empty packet for a lost one, and would invent as much sound as the longest packet
        // has.
        guard OpusHead.frames(in: Array(packet)) > 0 else { return 0 }
        let count = packet.withUnsafeBufferPointer { bytes in
            opus_multistream_decode_float(
                decoder,
                bytes.baseAddress,
                Int32(clamping: bytes.count),
                &decoded,
                CInt(packetFrames),
                0
            )
        }
        return max(0, Int(count))
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        decoded.copy(range, of: channelCount, into: pcm)
    }
}
