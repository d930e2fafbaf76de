import CVorbis
import Media

/// Owns a libvorbis decoder (vorbis/codec.h).
final class VorbisHandle: PacketCodec {
    let name: SafeText = "Vorbis"
    let format: AudioFormat
    let packetFrames = VorbisHead.longestPacket
    // libvorbis keeps pointers to all of them.
    private let information = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
    private let comment = UnsafeMutablePointer<vorbis_comment>.allocate(capacity: 1)
    private let state = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
    private let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)
    private var hasState = false
    private let order: [Int]
    private var decoded: [Float]
    private var packetNumber: Int64 = 0
    /// The length of the last block; `nil` after a reset: the first block only overlaps with the next one.
    private var lastBlock: Int?

    /// An empty list of comments: libvorbis requires one, but its content does not affect the sound.
    private static let noComments: [UInt8] = [3] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 1]

    /// `nil` if `headers` are damaged.
    init?(_ head: VorbisHead, _ format: AudioFormat, headers: [[UInt8]]) {
        self.format = format
        order = VorbisHead.order(of: head.channelCount)
        decoded = Array(repeating: 0, count: packetFrames * order.count)
        vorbis_info_init(information)
        vorbis_comment_init(comment)
        guard headers.count == 3, VorbisSetup.isBounded(headers[2]) else { return nil }
        for (index, header) in [headers[0], Self.noComments, headers[2]].enumerated() {
            let status = withPacket(header[...], isFirst: index == 0) {
                vorbis_synthesis_headerin(information, comment, $0)
            }
            guard status == 0 else { return nil }
        }
        guard vorbis_synthesis_init(state, information) == 0 else { return nil }
        vorbis_block_init(state, block)
        hasState = true
    }

    deinit {
        if hasState {
            vorbis_block_clear(block)
            vorbis_dsp_clear(state)
        }
        vorbis_comment_clear(comment)
        vorbis_info_clear(information)
        block.deallocate()
        state.deallocate()
        comment.deallocate()
        information.deallocate()
    }

    func reset() {
        _ = vorbis_synthesis_restart(state)
        lastBlock = nil
    }

    func frames(in packets: ArraySlice<[UInt8]>) -> Int {
        var last = lastBlock
        var frames = 0
        for packet in packets {
            guard let block = blockSize(of: packet[...]) else { continue }
            if let last { frames += (last + block) / 4 }
            last = block
        }
        return frames
    }

    private func blockSize(of packet: ArraySlice<UInt8>) -> Int? {
        let size = withPacket(packet) { vorbis_packet_blocksize(information, $0) }
        return size > 0 ? size : nil
    }

    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        let size = blockSize(of: packet)
        guard withPacket(packet, { vorbis_synthesis(block, $0) }) == 0,
            vorbis_synthesis_blockin(state, block) == 0
        else { return 0 }
        lastBlock = size
        var frames = 0
        var channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
        while case let count = min(Int(vorbis_synthesis_pcmout(state, &channels)), packetFrames - frames),
            count > 0, let channels
        {
            for (place, channel) in order.enumerated() {
                guard let samples = channels[channel] else { continue }
                for index in 0..<count { decoded[(frames + index) * order.count + place] = samples[index] }
            }
            frames += count
            vorbis_synthesis_read(state, CInt(count))
        }
        return frames
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        decoded.copy(range, of: order.count, into: pcm)
    }

    /// Calls `body` with `packet` as libogg describes it.
    private func withPacket<Result>(
        _ packet: ArraySlice<UInt8>,
        isFirst: Bool = false,
        _ body: (UnsafeMutablePointer<ogg_packet>) -> Result
    ) -> Result {
        packet.withUnsafeBufferPointer { bytes in
            packetNumber += 1
            // libvorbis does not write to a packet.
            var described = ogg_packet(
                packet: UnsafeMutablePointer(mutating: bytes.baseAddress),
                bytes: bytes.count,
                b_o_s: isFirst ? 1 : 0,
                e_o_s: 0,
                granulepos: -1,
                packetno: packetNumber
            )
            return body(&described)
        }
    }
}
