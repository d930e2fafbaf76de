import CFAAD
import Media
import System

/// Owns a decoder of libfaad2, which takes one packet after the other.
final class AACHandle {
    private static let library = OptionalLibrary { cfaad_load().map { String(cString: $0) } }

    private let decoder: cfaad_decoder
    /// `true` if the stream has one channel. libfaad2 always makes two of it.
    private let isMono: Bool
    /// The format of the last packet that was decoded; `nil` before it.
    private(set) var format: AudioFormat?
    /// The PCM frames of that packet.
    private(set) var packetFrames = 0
    /// `true` if a packet has had spectral band replication, or parametric stereo.
    private(set) var hasSBR = false
    private(set) var hasPS = false
    /// The places of libfaad2's channels in a frame of `format`.
    private var order: [Int] = []

    /// Opens the library, if it is not open yet, and creates a decoder.
    ///
    /// Throws `.missingLibrary` if the library is not installed.
    static func make(_ configuration: AACConfiguration, _ subject: SafeText) async throws -> AACHandle {
        if let reason = await library.open() {
            let cause = SafeText("can't be loaded (\(reason)); install libfaad2 to play AAC")
            throw MediaError(.missingLibrary, "libfaad2", cause)
        }
        guard let handle = AACHandle(configuration) else {
            throw MediaError(.notAudio, subject, AACRefusal.damaged.cause)
        }
        return handle
    }

    /// `nil` if libfaad2 refuses the configuration. The library must be open.
    private init?(_ configuration: AACConfiguration) {
        var bytes = configuration.bytes
        guard let decoder = cfaad_open(&bytes, UInt(bytes.count)) else { return nil }
        self.decoder = decoder
        isMono = configuration.channelCount == 1
        hasPS = configuration.statesPS
    }

    deinit { cfaad_close(decoder) }

    /// The next packet does not follow the last one.
    func reset() { cfaad_reset(decoder) }

    /// Decodes `packet` and appends its samples, interleaved in the order of `format`, to `pcm`. Returns the number of
    /// frames; 0 if the packet is damaged.
    func decode(_ packet: ArraySlice<UInt8>, into pcm: inout [Float]) -> Int {
        // libfaad2 does not write to a packet, but its interface does not promise that.
        var bytes = Array(packet)
        var frame = cfaad_frame()
        guard let samples = cfaad_decode(decoder, &frame, &bytes, UInt(bytes.count)), frame.error == 0,
            frame.sample_count > 0, AudioFormat.channelCounts.contains(Int(frame.channel_count))
        else { return 0 }
        let channelCount = Int(frame.channel_count)
        hasSBR = hasSBR || frame.sbr != 0
        hasPS = hasPS || frame.ps != 0
        let count = Int(frame.sample_count) / channelCount
        note(frame, count)
        let width = order.count
        let start = pcm.count
        pcm.append(contentsOf: repeatElement(0, count: count * width))
        pcm.withUnsafeMutableBufferPointer { pcm in
            for (channel, place) in order.enumerated() {
                for index in 0..<count {
                    pcm[start + index * width + place] = samples[index * channelCount + channel]
                }
            }
        }
        return count
    }

    /// Derives the format from what the library states.
    private func note(_ frame: cfaad_frame, _ count: Int) {
        packetFrames = count
        // libfaad2 makes two equal channels of one, unless PS makes them differ.
        let isDoubled = isMono && !hasPS
        let channelCount = isDoubled ? 1 : Int(frame.channel_count)
        let rate = Int(frame.sample_rate)
        if let format, format.sampleRate == rate, format.channelCount == channelCount { return }
        let stated = withUnsafeBytes(of: frame.channel_position) { Array($0.prefix(channelCount)) }
        let positions = stated.compactMap { Self.positions[$0] }
        let sorted = ChannelPosition.allCases.filter(positions.contains)
        let isKnown = channelCount > 2 && sorted.count == channelCount
        let channels = isKnown ? sorted : ChannelPosition.customary(channelCount)
        order = (0..<channelCount).map { isKnown ? sorted.firstIndex(of: positions[$0]) ?? $0 : $0 }
        format = AudioFormat(sampleRate: rate, channels: channels, sample: .f32)
    }

    /// The loudspeakers by libfaad2's numbers (neaacdec.h).
    private static let positions: [UInt8: ChannelPosition] = [
        1: .frontCenter, 2: .frontLeft, 3: .frontRight, 4: .sideLeft, 5: .sideRight, 6: .rearLeft,
        7: .rearRight,
        8: .rearCenter, 9: .lowFrequency,
    ]
}
