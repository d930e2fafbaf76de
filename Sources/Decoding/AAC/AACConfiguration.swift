import Media

/// The configuration of an AAC stream: an AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1). Pure.
///
/// Spectral band replication (SBR, in HE-AAC) doubles the sample rate, and parametric stereo (PS, in HE-AAC
/// v2) makes two channels of one. A stream may have either without stating it.
struct AACConfiguration: CodecConfiguration {
    /// Sample rates by their index in configurations and ADTS headers.
    static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    /// The index for a rate that is not in the table and follows in Hz.
    private static let statedRate = 15
    private static let sbrMark = 0x2B7
    private static let psMark = 0x548

    /// The configuration as it is passed to libfaad2.
    let bytes: [UInt8]
    /// The codec without SBR and PS: 2 for AAC LC.
    private(set) var objectType: Int
    /// The sample rate without SBR.
    private(set) var sampleRate: Int
    /// The number of channels without PS.
    private(set) var channelCount: Int
    /// `true` if SBR or PS is stated. A stream may also have them without stating it.
    private(set) var statesSBR = false
    private(set) var statesPS = false
    /// The frames of a packet without SBR.
    private(set) var packetFrames = 1_024
    /// About a second.
    let triedPackets: Int64 = 24

    /// The configuration of a stream of ADTS frames with the codec `objectType`, by the indices in their
    /// headers.
    init(objectType: Int, rateIndex: Int, channelIndex: Int) throws(Refusal) {
        let bits = objectType << 11 | rateIndex << 7 | channelIndex << 3
        try self.init([UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)])
    }

    /// Parses `bytes`. Throws if streams with this configuration are not played.
    init(_ bytes: [UInt8]) throws(Refusal) {
        self.bytes = bytes
        var reader = BitReader(bytes)
        objectType = Self.objectType(&reader)
        sampleRate = try Self.rate(&reader)
        let channelIndex = reader.next(4)
        if objectType == 5 || objectType == 29 {
            statesSBR = true
            statesPS = objectType == 29
            _ = try Self.rate(&reader)
            objectType = Self.objectType(&reader)
        }
        guard Self.played.contains(objectType) else {
            throw Refusal.aac(Self.names[objectType].map { SafeText($0) } ?? "An unknown kind of AAC")
        }
        let isShort = reader.flag()
        packetFrames = objectType == 23 ? (isShort ? 480 : 512) : (isShort ? 960 : 1_024)
        // The delay of a core codec, which is not needed.
        if reader.flag() { _ = reader.next(14) }
        let isExtended = reader.flag()
        channelCount = channelIndex == 7 ? 8 : channelIndex
        if channelIndex == 0 { channelCount = Self.channelCount(&reader) }
        guard channelIndex <= 7, AudioFormat.channelCounts.contains(channelCount) else {
            throw Refusal.aac("AAC with an unknown order of channels")
        }
        if isExtended { _ = reader.next(objectType >= 17 ? 4 : 1) }
        if objectType >= 17 { _ = reader.next(2) }
        guard reader.remaining >= 0, bytes.count >= 2 else { throw .damaged }
        if !statesSBR { noteExtension(&reader) }
    }

    /// Reads the extension that states SBR and PS after a configuration which old decoders understand.
    private mutating func noteExtension(_ reader: inout BitReader) {
        guard reader.remaining >= 17, reader.next(11) == Self.sbrMark, Self.objectType(&reader) == 5,
            reader.flag()
        else { return }
        statesSBR = true
        if reader.next(4) == Self.statedRate { _ = reader.next(24) }
        statesPS = reader.remaining >= 12 && reader.next(11) == Self.psMark && reader.flag()
    }

    private static func objectType(_ reader: inout BitReader) -> Int {
        let type = reader.next(5)
        return type == 31 ? 32 + reader.next(6) : type
    }

    private static func rate(_ reader: inout BitReader) throws(Refusal) -> Int {
        let index = reader.next(4)
        let rate = index == statedRate ? reader.next(24) : rates.indices.contains(index) ? rates[index] : 0
        guard PCMLayout.rates.contains(rate) else { throw .damaged }
        return rate
    }

    /// The number of channels that a program config element lists (§4.4.1.1).
    private static func channelCount(_ reader: inout BitReader) -> Int {
        _ = reader.next(4 + 2 + 4)
        let pairable = reader.next(4) + reader.next(4) + reader.next(4)
        let lowCount = reader.next(2)
        _ = reader.next(3 + 4)
        if reader.flag() { _ = reader.next(4) }
        if reader.flag() { _ = reader.next(4) }
        if reader.flag() { _ = reader.next(3) }
        var count = lowCount
        for _ in 0..<pairable {
            count += reader.flag() ? 2 : 1
            _ = reader.next(4)
        }
        return count
    }

    /// The codecs that libfaad2 has: AAC Main, LC and LTP, those with error resilience, and LD.
    private static let played: Set = [1, 2, 4, 17, 19, 23]
    private static let names = [
        3: "AAC SSR", 6: "Scalable AAC", 8: "CELP", 9: "HVXC", 20: "Scalable AAC", 22: "AAC BSAC",
        32: "MPEG Layer I", 33: "MPEG Layer II", 34: "MP3 in MP4", 36: "MPEG-4 ALS", 37: "MPEG-4 SLS",
        39: "AAC ELD", 42: "xHE-AAC (USAC)",
    ]

    func codec(trying packets: [ArraySlice<UInt8>]) async throws -> any PacketCodec {
        try await AACHandle.make(self, trying: packets)
    }

    var codecName: SafeText {
        switch objectType {
        case 1: "AAC Main"
        case 4, 19: "AAC LTP"
        case 23: "AAC LD"
        default: "AAC LC"
        }
    }
}
