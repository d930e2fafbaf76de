import Media
import System

/// Decodes the packets of one stream, which a container has found: packets in, frames out. It neither reads
/// nor waits.
///
/// It is not in `Media`, since only decoders use it: for the player, a resource has one decoder.
protocol PacketCodec: AnyObject {
    /// For display: `Vorbis`, ….
    var name: SafeText { get }

    /// The format of the frames that were decoded last; before the first ones, the format that they probably
    /// have.
    var format: AudioFormat { get }

    /// The number of frames in a packet: in each one if all have equally many, else in the longest one.
    var packetFrames: Int { get }

    /// The number of frames before the wanted one at which decoding begins after a jump, so that the wanted
    /// one is exact.
    var primingFrames: FrameCount { get }

    /// The number of packets after which the decoder rounds as at the start of a stream: decoding begins with
    /// a packet whose number is a multiple of it.
    var packetsPerPhase: Int64 { get }

    /// Forgets what was decoded, because the next packet does not follow the last one.
    func reset()

    /// The number of frames that `packets` bring if they are decoded next, one after the other.
    func frames(in packets: ArraySlice<[UInt8]>) -> Int

    /// Decodes `packet`. Returns the number of its frames; 0 if the packet is damaged, or only prepares the
    /// next one.
    func decode(_ packet: ArraySlice<UInt8>) -> Int

    /// Writes the frames `range` of the packet decoded last to `pcm`, which has room for them: in `format`,
    /// with the channels in the order of WAVE files.
    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer)
}

/// The settings of a codec, as a container states them.
protocol CodecConfiguration: Sendable, Equatable {
    /// Frames per second.
    var sampleRate: Int { get }

    /// The frames of a packet at that rate.
    var packetFrames: Int { get }

    /// The number of first packets from which the codec detects its format; 0 if the settings state it.
    var triedPackets: Int64 { get }

    /// Opens the codec's library, if it is not open yet, and creates a decoder for a stream that begins with
    /// `packets`. Throws `Refusal` if the stream is not played, and `MediaError` with `.missingLibrary` if
    /// the library is not installed.
    func codec(trying packets: [ArraySlice<UInt8>]) async throws -> any PacketCodec
}

extension CodecConfiguration {
    func isEqual(to other: any CodecConfiguration) -> Bool { self == other as? Self }
}

extension PacketCodec {
    var primingFrames: FrameCount { 0 }
    var packetsPerPhase: Int64 { 1 }
}

extension [Float] {
    /// Writes the frames `range` to `pcm`, if each has `channelCount` samples.
    func copy(_ range: Range<Int>, of channelCount: Int, into pcm: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes { bytes in
            let width = channelCount * MemoryLayout<Float>.size
            pcm.copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: bytes[range.lowerBound * width..<range.upperBound * width]
                )
            )
        }
    }
}
