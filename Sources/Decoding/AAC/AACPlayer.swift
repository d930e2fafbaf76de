import Media

/// Turns the packets of a stream into its frames, by their numbers: it drops those before and behind the music, and makes
/// missing and damaged packets silent. It neither reads nor waits.
///
/// All packets bring the same number of frames. Decoding must begin some packets before the first wanted frame
/// (`primingPackets`), since packets overlap.
final class AACPlayer {
    /// The frames of one step of silence.
    private static let silenceStep: FrameCount = 4_096
    /// The most packets that are decoded to tell the format: about a second.
    static let mostTried = 24

    private let handle: AACHandle
    private(set) var format: AudioFormat
    /// The PCM frames of a packet.
    private(set) var packetFrames: Int
    let codec: SafeText
    /// The number of packets to decode before the wanted one. One suffices, but with SBR the state of several counts,
    /// and its settings are repeated about twice a second.
    let primingPackets: Int64
    /// The number of the next packet.
    private(set) var packet: Int64 = 0
    /// The frames to play, counted from the first one of packet 0.
    private var music: Range<FrameCount> = 0..<FrameCount.max
    private var held: [Float] = []
    private var heldIndex = 0
    private var silence: FrameCount = 0
    /// `true` if what is held has another format than what was passed before.
    private(set) var hasFormatChange = false
    /// The bytes of damaged packets.
    private(set) var damagedByteCount: Int64 = 0

    /// Decodes some of `packets`, the first ones of the stream, to learn the format, which no configuration states for
    /// sure. Throws if the stream is not played, and `.missingLibrary` without libfaad2.
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
            // Only one channel with SBR may become two.
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

    /// The packet with which to begin in order to play the frame `frame`.
    func firstPacket(toPlay frame: FrameCount) -> Int64 {
        max(0, frame / FrameCount(packetFrames) - primingPackets)
    }

    /// The number of the first frame of the next packet.
    var position: FrameCount { packet * FrameCount(packetFrames) }

    /// `true` if all frames to play were decoded.
    var isAtEnd: Bool { position >= music.upperBound }

    /// `true` if `pass` has nothing.
    var isEmpty: Bool { heldIndex == held.count && silence == 0 }

    /// Moves the numbers of the packets and the frames to play by `packets`, since the estimated one was wrong.
    func shift(by packets: Int64) {
        packet = max(0, packet + packets)
        let frames = packets * FrameCount(packetFrames)
        music = max(0, music.lowerBound + frames)..<FrameCount.max
    }

    /// Notes that the change of format was reported.
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

    /// Decodes the next packet; it is silent if it is damaged. All frames must have been passed on.
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
            // Only SBR or PS can begin later, as in a radio stream.
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

    /// Makes `count` missing packets silent.
    func skip(_ count: Int64) {
        let range = position..<position + count * FrameCount(packetFrames)
        silence += FrameCount(range.clamped(to: music).count)
        packet += count
    }
}
