import Media

/// Turns the numbered packets of a stream into frames: drops the frames before and after the music, and replaces
/// missing and damaged packets by silence. It neither reads nor waits.
///
/// All packets bring the same number of frames. Decoding must begin some packets before the first wanted frame
/// (`primingPackets`), since packets overlap.
final class AACPlayer {
    /// The most frames of silence in one step.
    private static let silenceStep: FrameCount = 4_096
    /// The most packets that are decoded to detect the format: about a second.
    static let mostTried = 24

    private let handle: AACHandle
    private(set) var format: AudioFormat
    /// The PCM frames of a packet.
    private(set) var packetFrames: Int
    let codec: SafeText
    /// The number of packets to decode before the wanted one. One suffices without SBR. SBR depends on several packets,
    /// and repeats its settings about twice a second.
    let primingPackets: Int64
    /// The number of the next packet.
    private(set) var packet: Int64 = 0
    /// The frames to play, counted from the first one of packet 0.
    private var music: Range<FrameCount> = 0..<FrameCount.max
    private var held: [Float] = []
    private var heldIndex = 0
    private var silence: FrameCount = 0
    /// `true` if the held frames have another format than those passed on before.
    private(set) var hasFormatChange = false
    /// The number of bytes in damaged packets so far.
    private(set) var damagedByteCount: Int64 = 0

    /// Decodes some of `packets`, the first ones of the stream, to detect the format, which configurations do not state
    /// reliably. Throws if the stream is not played, and `.missingLibrary` without libfaad2.
    static func make(
        _ configuration: AACConfiguration,
        trying packets: [ArraySlice<UInt8>],
        _ subject: SafeText
    ) async throws -> AACPlayer {
        let trial = try await AACHandle.make(configuration, subject)
        var samples: [Float] = []
        for packet in packets.prefix(mostTried) {
            samples.removeAll(keepingCapacity: true)
            _ = trial.decode(packet, into: &samples)
            // Of all formats, only mono with SBR may still turn out to be stereo, by PS.
            if trial.format != nil, configuration.channelCount > 1 || !trial.hasSBR || trial.hasPS { break }
        }
        guard let format = trial.format else {
            throw MediaError(.notAudio, subject, AACRefusal.damaged.cause)
        }
        let handle = try await AACHandle.make(configuration, subject)
        let name: SafeText = trial.hasPS ? "HE-AAC v2" : trial.hasSBR ? "HE-AAC" : configuration.codecName
        return AACPlayer(handle, format, trial.packetFrames, name, primingPackets: trial.hasSBR ? 16 : 1)
    }

    private init(
        _ handle: AACHandle,
        _ format: AudioFormat,
        _ packetFrames: Int,
        _ codec: SafeText,
        primingPackets: Int64
    ) {
        (self.handle, self.format, self.packetFrames, self.codec) = (handle, format, packetFrames, codec)
        self.primingPackets = primingPackets
    }

    /// Continues with packet `number`, and plays the frames of `music`, counted from the first one of packet 0.
    func restart(at number: Int64, playing music: Range<FrameCount>) {
        handle.reset()
        (packet, self.music) = (number, music)
        (held, heldIndex, silence, hasFormatChange) = ([], 0, 0, false)
    }

    /// The packet with which decoding must begin so that frame `frame` is exact.
    func firstPacket(toPlay frame: FrameCount) -> Int64 {
        max(0, frame / FrameCount(packetFrames) - primingPackets)
    }

    /// The number of the first frame of the next packet.
    var position: FrameCount { packet * FrameCount(packetFrames) }

    /// `true` if all frames to play were decoded.
    var isAtEnd: Bool { position >= music.upperBound }

    /// `true` if `pass` has no frames to write.
    var isEmpty: Bool { heldIndex == held.count && silence == 0 }

    /// Adds `packets` to the number of the next packet, which was a wrong estimate, and moves the frames to play with
    /// it.
    func shift(by packets: Int64) {
        packet = max(0, packet + packets)
        let frames = packets * FrameCount(packetFrames)
        music = max(0, music.lowerBound + frames)..<FrameCount.max
    }

    /// Records that the change of format was reported.
    func takeFormatChange() { hasFormatChange = false }

    /// Writes as many PCM frames into `pcm` as are held and fit; returns their number.
    func pass(into pcm: UnsafeMutableRawBufferPointer) -> Int {
        let width = format.bytesPerFrame
        let room = pcm.count / width
        let count = min(room, (held.count - heldIndex) / format.channelCount)
        if count > 0 {
            held.withUnsafeBytes { bytes in
                let start = heldIndex * MemoryLayout<Float>.size
                pcm.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count * width]))
            }
            heldIndex += count * format.channelCount
            return count
        }
        let silent = Int(min(FrameCount(room), silence, Self.silenceStep))
        UnsafeMutableRawBufferPointer(rebasing: pcm[..<(silent * width)])
            .initializeMemory(as: UInt8.self, repeating: 0)
        silence -= FrameCount(silent)
        return silent
    }

    /// Decodes the next packet, or replaces it by silence if it is damaged. Call it only when all frames were passed
    /// on.
    func decode(_ bytes: ArraySlice<UInt8>) {
        held.removeAll(keepingCapacity: true)
        heldIndex = 0
        let count = handle.decode(bytes, into: &held)
        guard count > 0, let decoded = handle.format else {
            held = []
            damagedByteCount += Int64(bytes.count)
            return skip(1)
        }
        if decoded != format || count != packetFrames {
            // The only later change is that SBR or PS begins, as in a radio stream.
            hasFormatChange = hasFormatChange || decoded != format
            (format, packetFrames) = (decoded, count)
        }
        let range = position..<position + FrameCount(count)
        packet += 1
        let wanted = range.clamped(to: music)
        let channels = format.channelCount
        let end = Int(wanted.upperBound - range.lowerBound) * channels
        if end < held.count { held.removeLast(held.count - end) }
        heldIndex = min(held.count, Int(wanted.lowerBound - range.lowerBound) * channels)
    }

    /// Replaces `count` missing packets by silence.
    func skip(_ count: Int64) {
        let range = position..<position + count * FrameCount(packetFrames)
        silence += FrameCount(range.clamped(to: music).count)
        packet += count
    }
}
