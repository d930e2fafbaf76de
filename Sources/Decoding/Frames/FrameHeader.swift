import Media

/// The header of an MPEG audio frame: four bytes (ISO/IEC 11172-3 §2.4.1.3, 13818-3, and the customary
/// MPEG-2.5).
///
/// Four bytes with a reserved version, layer, bit rate or sample rate are not a header.
package struct FrameHeader: Sendable, Hashable {
    package enum Version: Sendable, Hashable {
        case mpeg1, mpeg2, mpeg25
    }

    package static let byteCount = 4

    /// More than the largest frame in the bit rate tables (2,881 bytes: MPEG-2.5 Layer II, 160 kbit/s at 8
    /// kHz), and the length up to which a free-format frame is searched for.
    static let longestFrame = 4096
    /// The longest frame that libmpg123 accepts (`MAXFRAMESIZE`), without its header.
    private static let longestBody = 3_456

    /// Sync, version, layer and sample rate, which all frames of a stream share. Bit rate, padding and
    /// channel mode may differ.
    private static let streamMask: UInt32 = 0xFFFE_0C00

    package let version: Version
    /// 1...3.
    package let layer: Int
    /// `true` if a checksum of two bytes follows the header.
    package let hasCheck: Bool
    /// In bits per second; 0 in free format, whose rate no header states.
    package let bitRate: Int
    /// In Hz.
    package let sampleRate: Int
    package let isPadded: Bool
    /// 1 or 2.
    package let channelCount: Int
    private let raw: UInt32

    /// Parses `raw`, the four bytes read big-endian; `nil` if they are not a header.
    package init?(_ raw: UInt32) {
        guard raw >> 21 == 0x7FF else { return nil }
        switch (raw >> 19) & 3 {
        case 0: version = .mpeg25
        case 2: version = .mpeg2
        case 3: version = .mpeg1
        default: return nil
        }
        let layerBits = Int((raw >> 17) & 3)
        let rateIndex = Int((raw >> 12) & 15)
        let frequencyIndex = Int((raw >> 10) & 3)
        guard layerBits != 0, rateIndex != 15, frequencyIndex != 3 else { return nil }
        layer = 4 - layerBits
        bitRate = Self.rates(version, layer: layer)[rateIndex] * 1000
        let divisor = version == .mpeg1 ? 1 : (version == .mpeg2 ? 2 : 4)
        sampleRate = [44_100, 48_000, 32_000][frequencyIndex] / divisor
        hasCheck = (raw >> 16) & 1 == 0
        isPadded = (raw >> 9) & 1 == 1
        channelCount = (raw >> 6) & 3 == 3 ? 1 : 2
        self.raw = raw
    }

    /// Parses the header at `index` of `bytes`; `nil` too if fewer than four bytes are left.
    package init?(_ bytes: some RandomAccessCollection<UInt8>, at index: Int) {
        let start = bytes.index(bytes.startIndex, offsetBy: index)
        let four = bytes[start...].prefix(Self.byteCount)
        guard four.count == Self.byteCount else { return nil }
        self.init(four.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// For display: `MPEG-1 Layer III`.
    var codecName: SafeText {
        let version: SafeText =
            switch version {
            case .mpeg1: "MPEG-1"
            case .mpeg2: "MPEG-2"
            case .mpeg25: "MPEG-2.5"
            }
        return version + " Layer " + (layer == 1 ? "I" : layer == 2 ? "II" : "III")
    }

    /// PCM frames in one MPEG frame.
    package var samplesPerFrame: Int {
        switch layer {
        case 1: 384
        case 2: 1152
        default: version == .mpeg1 ? 1152 : 576
        }
    }

    /// The length of the frame with its header; `nil` in free format.
    package var frameByteCount: Int? {
        bitRate > 0 ? byteCount(at: bitRate, isPadded: isPadded) : nil
    }

    private func byteCount(at bitRate: Int, isPadded: Bool) -> Int {
        let padding = isPadded ? 1 : 0
        if layer == 1 { return (bitRate * 12 / sampleRate + padding) * 4 }
        return bitRate * samplesPerFrame / 8 / sampleRate + padding
    }

    /// The length of the frame with its header, if a free-format frame has `free` bytes without padding;
    /// `nil` if libmpg123 accepts no frame of this length, because its side information does not fit or the
    /// rest is too long.
    package func byteCount(ifFree free: Int?) -> Int? {
        guard let count = frameByteCount ?? free.map({ $0 + (isPadded ? 1 : 0) }),
            layer != 3 || count >= overheadByteCount, count - Self.byteCount <= Self.longestBody
        else { return nil }
        return count
    }

    /// The length of the shortest frame of this version, layer and sample rate, apart from free format.
    package var shortestFrameByteCount: Int {
        byteCount(at: Self.rates(version, layer: layer)[1] * 1_000, isPadded: false)
    }

    /// The length of the longest frame of this version, layer and sample rate; in free format an upper bound.
    package var longestFrameByteCount: Int {
        guard bitRate > 0, let most = Self.rates(version, layer: layer).last else { return Self.longestFrame }
        return byteCount(at: most * 1_000, isPadded: true)
    }

    /// Bit rates in kbit/s, by the index in a header.
    private static func rates(_ version: Version, layer: Int) -> [Int] {
        kilobits[version == .mpeg1 ? layer - 1 : (layer == 1 ? 3 : 4)]
    }

    /// The length of Layer III's side information; 0 in the other layers.
    package var sideInformationByteCount: Int {
        guard layer == 3 else { return 0 }
        if version == .mpeg1 { return channelCount == 1 ? 17 : 32 }
        return channelCount == 1 ? 9 : 17
    }

    /// How many bytes of earlier frames' main data a frame can use (the bit reservoir).
    package var longestReservoir: Int {
        guard layer == 3 else { return 0 }
        return version == .mpeg1 ? 511 : 255
    }

    /// How many frames must be decoded before a wanted one, so that overlap, filter bank and bit reservoir
    /// have the same state as when decoding from the start.
    package var primingFrameCount: Int { version == .mpeg1 ? 4 : 12 }

    /// The bytes of a frame before its main data.
    package var overheadByteCount: Int { Self.byteCount + (hasCheck ? 2 : 0) + sideInformationByteCount }

    /// `true` if both can be frames of one stream.
    package func isConsistent(with other: FrameHeader) -> Bool { (raw ^ other.raw) & Self.streamMask == 0 }

    /// `true` if both can be frames of one stream that keeps its number of channels, and both or neither are
    /// in free format.
    package func isAlike(_ other: FrameHeader) -> Bool {
        isConsistent(with: other) && channelCount == other.channelCount
            && (bitRate == 0) == (other.bitRate == 0)
    }

    /// Bit rates in kbit/s by `bitrate_index`: MPEG-1 Layers I, II, III, then MPEG-2 Layer I, then II and
    /// III.
    private static let kilobits = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
