import CFAAD
import Media
import System

/// Owns a decoder of libfaad2.
///
/// One packet suffices to prime it without SBR. SBR depends on several packets, and repeats its settings
/// about twice a second.
final class AACHandle: PacketCodec {
    private static let library = OptionalLibrary { cfaad_load().map { String(cString: $0) } }
    private let decoder: cfaad_decoder
    /// `true` if the stream has one channel. libfaad2 always makes two of it.
    private let isMono: Bool
    private(set) var name: SafeText
    private(set) var format: AudioFormat
    private(set) var packetFrames: Int
    private var primingPackets = 1
    /// `true` if a packet has had spectral band replication, or parametric stereo.
    private var hasSBR = false
    private var hasPS = false
    /// The places of libfaad2's channels in a frame of `format`; empty until a packet was decoded.
    private var order: [Int] = []
    /// The samples of the packet decoded last, in libfaad2's buffer, and the number of their channels.
    private var samples: UnsafePointer<Float>?
    private var channelCount = 0

    /// Opens the library, if it is not open yet, and creates a decoder.
    ///
    /// It decodes some of `packets`, the first ones of the stream, to detect the format, which configurations
    /// do not state reliably. Throws `Refusal` if the stream is not played, and `MediaError` with
    /// `.missingLibrary` if the library is not installed.
    static func make(
        _ configuration: AACConfiguration,
        trying packets: [ArraySlice<UInt8>]
    ) async throws -> AACHandle {
        let trial = try await make(configuration)
        for packet in packets.prefix(Int(configuration.triedPackets)) {
            _ = trial.decode(packet)
            // Of all formats, only mono with SBR may still turn out to be stereo, by PS.
            if !trial.order.isEmpty, configuration.channelCount > 1 || !trial.hasSBR || trial.hasPS { break }
        }
        guard !trial.order.isEmpty else { throw Refusal.damaged }
        let handle = try await make(configuration)
        handle.name = trial.hasPS ? "HE-AAC v2" : trial.hasSBR ? "HE-AAC" : configuration.codecName
        handle.format = trial.format
        handle.order = trial.order
        handle.packetFrames = trial.packetFrames
        handle.primingPackets = trial.hasSBR ? 16 : 1
        return handle
    }

    static func make(_ configuration: AACConfiguration) async throws -> AACHandle {
        try await library.load("libfaad2", install: "libfaad2 to play AAC")
        guard let handle = AACHandle(configuration) else { throw Refusal.damaged }
        return handle
    }

    /// `nil` if libfaad2 refuses the configuration. The library must be open.
    private init?(_ configuration: AACConfiguration) {
        var bytes = configuration.bytes
        guard let decoder = cfaad_open(&bytes, UInt(bytes.count)) else { return nil }
        self.decoder = decoder
        isMono = configuration.channelCount == 1
        name = configuration.codecName
        format = AudioFormat(
            sampleRate: configuration.sampleRate,
            channelCount: configuration.channelCount,
            sample: .f32
        )
        packetFrames = configuration.packetFrames
        hasPS = configuration.statesPS
    }

    deinit { cfaad_close(decoder) }

    var primingFrames: FrameCount { FrameCount(primingPackets * packetFrames) }

    func reset() { cfaad_reset(decoder) }

    func frames(in packets: ArraySlice<[UInt8]>) -> Int { packets.count * packetFrames }

    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        // libfaad2 does not write to a packet, but its interface does not promise that.
        var bytes = Array(packet)
        var frame = cfaad_frame()
        guard let decoded = cfaad_decode(decoder, &frame, &bytes, UInt(bytes.count)), frame.error == 0,
            frame.sample_count > 0, AudioFormat.channelCounts.contains(Int(frame.channel_count))
        else { return 0 }
        samples = UnsafePointer(decoded)
        channelCount = Int(frame.channel_count)
        hasSBR = hasSBR || frame.sbr != 0
        hasPS = hasPS || frame.ps != 0
        packetFrames = Int(frame.sample_count) / channelCount
        note(frame)
        return packetFrames
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        guard let samples else { return }
        let width = order.count
        precondition(range.count * width * MemoryLayout<Float>.size <= pcm.count)
        let pcm = pcm.assumingMemoryBound(to: Float.self)
        for (channel, place) in order.enumerated() {
            for index in range {
                pcm[(index - range.lowerBound) * width + place] = samples[index * channelCount + channel]
            }
        }
    }

    /// Derives the format from what the library states.
    private func note(_ frame: cfaad_frame) {
        // libfaad2 makes two equal channels of one, unless PS makes them differ.
        let isDoubled = isMono && !hasPS
        let channelCount = isDoubled ? 1 : Int(frame.channel_count)
        let rate = Int(frame.sample_rate)
        if !order.isEmpty, format.sampleRate == rate, format.channelCount == channelCount { return }
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
        7: .rearRight, 8: .rearCenter, 9: .lowFrequency,
    ]
}
