import CSndfile
import Media
import System

/// Owns an ALAC decoder of libsndfile. No packet depends on another one.
final class ALACHandle: PacketCodec {
    private static let library = OptionalLibrary { csndfile_load().map { String(cString: $0) } }

    let name: SafeText
    let format: AudioFormat
    let packetFrames: Int
    private let decoder: csndfile_decoder
    /// The bits of a sample.
    private let width: Int
    /// The places of a packet's channels in a frame of `format`.
    private let order: [Int]
    /// The samples of the packet decoded last, in the upper bits.
    private var samples: [Int32]

    /// Opens the library, if it is not open yet, and creates a decoder. Throws `Refusal` if the stream is not
    /// played, and `MediaError` with `.missingLibrary` if the library is not installed.
    static func make(_ configuration: ALACConfiguration) async throws -> ALACHandle {
        try await library.load("libsndfile", install: "libsndfile1 to play ALAC")
        guard let handle = ALACHandle(configuration) else { throw Refusal.damaged }
        return handle
    }

    /// `nil` if libsndfile refuses the configuration. The library must be open.
    private init?(_ configuration: ALACConfiguration) {
        let head = configuration.fileHead
        let opened = csndfile_open(head, Int64(head.count), Int64(configuration.longestPacket))
        guard let opened else { return nil }
        decoder = opened
        width = configuration.width
        name = SafeText("ALAC, \(width) bits")
        let format = configuration.format
        self.format = format
        packetFrames = configuration.packetFrames
        order = configuration.channels.map { format.channels.firstIndex(of: $0) ?? 0 }
        samples = Array(repeating: 0, count: packetFrames * format.channelCount)
    }

    deinit { csndfile_close(decoder) }

    func reset() {}

    func frames(in packets: ArraySlice<[UInt8]>) -> Int { packets.count * packetFrames }

    /// A packet has no checksum: a damaged one may give any samples. The last one has fewer frames than the
    /// others, and silence after them, which the container trims.
    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        let count = readUnpacked(packet) ?? unpack(packet)
        guard count > 0 else { return 0 }
        for index in count * order.count..<samples.count { samples[index] = 0 }
        return packetFrames
    }

    private func unpack(_ packet: ArraySlice<UInt8>) -> Int {
        let count = packet.withUnsafeBufferPointer { bytes in
            csndfile_decode(decoder, bytes.baseAddress, Int64(bytes.count), &samples, Int64(packetFrames))
        }
        return Int(count)
    }

    /// Reads a packet of noise, or of few frames, whose samples the encoder did not pack. Returns the number
    /// of its frames; `nil` if some are packed.
    ///
    /// libsndfile 1.2 drops the upper bits of every second channel of more than 16 bits in such packets. The
    /// last packet of one 24-bit track in 200 is one.
    private func readUnpacked(_ packet: ArraySlice<UInt8>) -> Int? {
        guard width > 16, let flags = packet.dropFirst(2).first, flags & 2 != 0 else { return nil }
        var reader = BitReader(Array(packet))
        var count = packetFrames
        var channel = 0
        while channel < order.count {
            // The head of a channel (0, or 3 for low frequencies), or of a pair of channels (1).
            let element = reader.next(3)
            let channels = channel..<channel + (element == 1 ? 2 : 1)
            _ = reader.next(4)
            let reserved = reader.next(12)
            let isShort = reader.flag()
            let isUnpacked = reader.next(3) == 1
            if isShort { count = reader.next(32) }
            guard [0, 1, 3].contains(element), channels.upperBound <= order.count, reserved == 0, isUnpacked,
                count <= packetFrames, count * channels.count * width <= reader.remaining
            else { return nil }
            for frame in 0..<count {
                for channel in channels {
                    let sample = Int32(truncatingIfNeeded: reader.next(width) << (32 - width))
                    samples[frame * order.count + channel] = sample
                }
            }
            channel = channels.upperBound
        }
        return count
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        switch format.sample {
        case .s16: copy(range, into: pcm.bindMemory(to: Int16.self)) { Int16(truncatingIfNeeded: $0 >> 16) }
        default: copy(range, into: pcm.bindMemory(to: Int32.self)) { $0 }
        }
    }

    private func copy<Sample>(
        _ range: Range<Int>,
        into pcm: UnsafeMutableBufferPointer<Sample>,
        _ sample: (Int32) -> Sample
    ) {
        for (channel, place) in order.enumerated() {
            for frame in range {
                let target = (frame - range.lowerBound) * order.count + place
                pcm[target] = sample(samples[frame * order.count + channel])
            }
        }
    }
}
