import COpus
import CVorbis
import Media
import System

/// Decodes the packets of one logical stream. It neither reads nor waits.
protocol OggCodecHandle: AnyObject {
    /// Forgets what was decoded, because the next packet does not follow the last one.
    func reset()

    /// The frames that `packets` bring if they are decoded next, one after the other.
    func frames(in packets: ArraySlice<[UInt8]>) -> Int

    /// Decodes `packet` and appends its samples, interleaved in the order of WAVE files, to `pcm`. Returns the number of
    /// frames; 0 if the packet is damaged.
    func decode(_ packet: [UInt8], into pcm: inout [UInt8]) -> Int
}

extension OggCodec {
    private static let vorbisLibrary = OptionalLibrary { cvorbis_load().map { String(cString: $0) } }
    private static let opusLibrary = OptionalLibrary { copus_load().map { String(cString: $0) } }

    /// Opens the library of the codec, if it is not open yet, and creates a decoder.
    ///
    /// `headers` are the packets in front of the music. Throws `.missingLibrary` if the library is not installed.
    func handle(headers: [[UInt8]], subject: SafeText) async throws -> any OggCodecHandle {
        let made: (any OggCodecHandle)?
        switch self {
        case .vorbis(let head):
            try await load(Self.vorbisLibrary, "libvorbis", package: "libvorbis0a")
            made = VorbisHandle(head, headers: headers)
        case .opus(let head):
            try await load(Self.opusLibrary, "libopus", package: "libopus0")
            made = OpusHandle(head)
        case .flac(let stream):
            made = FLACPacketHandle(stream, try await FLACHandle.opened(for: stream, of: subject))
        }
        guard let made else { throw MediaError(.notAudio, subject, OggRefusal.damaged.what) }
        return made
    }

    private func load(_ library: OptionalLibrary, _ soname: SafeText, package: SafeText) async throws {
        guard let reason = await library.open() else { return }
        let cause = "can't be loaded (" + SafeText(reason) + "); install " + package + " to play " + name
        throw MediaError(.missingLibrary, soname, cause)
    }
}

/// Owns a libvorbis decoder (vorbis/codec.h), which takes one packet after the other.
final class VorbisHandle: OggCodecHandle {
    // libvorbis keeps pointers to all of them.
    private let information = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
    private let comment = UnsafeMutablePointer<vorbis_comment>.allocate(capacity: 1)
    private let state = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
    private let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)
    private var hasState = false
    private let order: [Int]
    /// The samples of one packet.
    private let decoded: UnsafeMutablePointer<Float>
    private var packetNumber: Int64 = 0
    /// The length of the last block; `nil` after a reset: the first block only overlaps with the next one.
    private var lastBlock: Int?

    /// An empty list of comments: libvorbis requires one, but its content does not affect the sound.
    private static let noComments: [UInt8] = [3] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 1]

    /// `nil` if `headers` are damaged.
    init?(_ head: VorbisHead, headers: [[UInt8]]) {
        order = VorbisHead.order(of: head.channelCount)
        decoded = .allocate(capacity: VorbisHead.longestPacket * order.count)
        decoded.initialize(repeating: 0, count: VorbisHead.longestPacket * order.count)
        vorbis_info_init(information)
        vorbis_comment_init(comment)
        guard headers.count == 3, VorbisSetup.isBounded(headers[2]) else { return nil }
        for (index, header) in [headers[0], Self.noComments, headers[2]].enumerated() {
            let status = withPacket(header, isFirst: index == 0) {
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
        decoded.deallocate()
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
            guard let block = blockSize(of: packet) else { continue }
            if let last { frames += (last + block) / 4 }
            last = block
        }
        return frames
    }

    private func blockSize(of packet: [UInt8]) -> Int? {
        let size = withPacket(packet) { vorbis_packet_blocksize(information, $0) }
        return size > 0 ? size : nil
    }

    func decode(_ packet: [UInt8], into pcm: inout [UInt8]) -> Int {
        let size = blockSize(of: packet)
        guard withPacket(packet, { vorbis_synthesis(block, $0) }) == 0,
            vorbis_synthesis_blockin(state, block) == 0
        else { return 0 }
        lastBlock = size
        var frames = 0
        var channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
        while case let count = Int(vorbis_synthesis_pcmout(state, &channels)), count > 0, let channels {
            let count = min(count, VorbisHead.longestPacket)
            append(count, of: channels, to: &pcm)
            frames += count
            vorbis_synthesis_read(state, CInt(count))
        }
        return frames
    }

    private func append(
        _ count: Int,
        of channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>,
        to pcm: inout [UInt8]
    ) {
        let width = order.count
        for (place, channel) in order.enumerated() {
            guard let samples = channels[channel] else { continue }
            for index in 0..<count { decoded[index * width + place] = samples[index] }
        }
        pcm.append(samples: decoded, count: count * width)
    }

    /// Calls `body` with `packet` as libogg describes it.
    private func withPacket<Result>(
        _ packet: [UInt8],
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

/// Owns a libopus decoder (opus_multistream.h).
final class OpusHandle: OggCodecHandle {
    private let decoder: OpaquePointer
    private let channelCount: Int
    /// The samples of one packet.
    private let decoded: UnsafeMutablePointer<Float>

    /// `nil` if libopus refuses the head.
    init?(_ head: OpusHead) {
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
        decoded = .allocate(capacity: OpusHead.longestPacket * channelCount)
        _ = copus_set_gain(decoder, CInt(head.gain))
    }

    deinit {
        opus_multistream_decoder_destroy(decoder)
        decoded.deallocate()
    }

    func reset() { _ = copus_reset(decoder) }

    func frames(in packets: ArraySlice<[UInt8]>) -> Int {
        packets.reduce(0) { $0 + OpusHead.frames(in: $1) }
    }

    func decode(_ packet: [UInt8], into pcm: inout [UInt8]) -> Int {
        // libopus takes an empty packet for a lost one, and would invent as much sound as the longest packet has.
        guard !packet.isEmpty else { return 0 }
        let most = CInt(OpusHead.longestPacket)
        let count = Int32(clamping: packet.count)
        let frames = Int(
            opus_multistream_decode_float(decoder, packet, count, decoded, most, 0)
        )
        guard frames > 0 else { return 0 }
        pcm.append(samples: decoded, count: frames * channelCount)
        return frames
    }
}

extension [UInt8] {
    /// Appends the bytes of `count` samples.
    fileprivate mutating func append(samples: UnsafePointer<Float>, count: Int) {
        append(contentsOf: UnsafeRawBufferPointer(UnsafeBufferPointer(start: samples, count: count)))
    }
}
