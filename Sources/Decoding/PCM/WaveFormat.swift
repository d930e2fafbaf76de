import Media

/// The chunk `fmt ` of a WAV file (Multimedia Programming Interface 1.0; mmreg.h, WAVEFORMATEXTENSIBLE).
/// Pure.
struct WaveFormat {
    /// The most bytes of the chunk that are read: the length of WAVEFORMATEXTENSIBLE.
    static let byteCount = 40
    private static let extensible = 0xFFFE
    /// The end of every sub-format that stands for a codec's number (KSDATAFORMAT_SUBTYPE_WAVEFORMATEX).
    private static let codecEnding: [UInt8] = [
        0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71,
    ]

    /// The content of the chunk.
    let bytes: [UInt8]

    /// The format of the WAV file that begins with `bytes`; `nil` if they end before it.
    static func format(of file: [UInt8]) -> WaveFormat? {
        var walk = ChunkWalk(at: 0, contents: ["fmt ": Self.byteCount])
        while let range = walk.wanted, range.upperBound <= file.count {
            guard let chunk = walk.took(file[Int(range.lowerBound)..<Int(range.upperBound)]) else { continue }
            if chunk.name == "fmt " { return WaveFormat(bytes: chunk.bytes) }
        }
        return nil
    }

    /// The number of the codec (RFC 2361), stated directly or, in WAVEFORMATEXTENSIBLE, as a sub-format.
    var codec: Int {
        let stated = number(at: 0, 2)
        return stated == Self.extensible && bytes.dropFirst(26).elementsEqual(Self.codecEnding)
            ? number(at: 24, 2) : stated
    }

    /// `true` if the file holds MPEG audio: Layer I or II, or MP3.
    var isMPEG: Bool { codec == 0x50 || codec == 0x55 }

    /// Throws if this is not PCM, or if the chunk is too short.
    func layout() throws(Refusal) -> PCMLayout {
        guard bytes.count >= 14 else { throw .damaged }
        // WAVE_FORMAT_PCM, WAVE_FORMAT_IEEE_FLOAT
        guard codec == 1 || codec == 3 else {
            let name = Self.names[codec] ?? SafeText("codec 0x" + String(codec, radix: 16))
            throw Refusal("WAV with " + name, played: "WAV with PCM or MP3")
        }
        let channelCount = number(at: 2, 2)
        let frame = number(at: 12, 2)
        let bits = number(at: 14, 2)
        // Samples are in the upper bits of whole bytes, and the length of a frame states how many.
        let isFrameUsable =
            channelCount > 0 && frame % channelCount == 0 && frame / channelCount * 8 >= max(1, bits)
        let byteCount = isFrameUsable ? frame / channelCount : (bits + 7) / 8
        let mask = number(at: 0, 2) == Self.extensible ? number(at: 20, 4) : 0
        return try PCMLayout(
            of: "WAV",
            codec == 3 ? .float : byteCount == 1 ? .unsigned : .signed,
            byteCount: byteCount,
            isBigEndian: false,
            sampleRate: Double(number(at: 4, 4)),
            channelCount: channelCount,
            channels: { ChannelPosition.channels(ofMask: UInt32(truncatingIfNeeded: mask), count: $0) }
        )
    }

    /// 0 if the chunk ends before it.
    private func number(at index: Int, _ count: Int) -> Int {
        guard index + count <= bytes.count else { return 0 }
        return Int(bytes[index..<index + count].littleEndianNumber)
    }

    /// Other codecs that are common in WAV files (RFC 2361, mmreg.h), for messages.
    private static let names: [Int: SafeText] = [
        0x02: "MS ADPCM", 0x06: "A-law", 0x07: "µ-law", 0x10: "OKI ADPCM", 0x11: "IMA ADPCM",
        0x22: "TrueSpeech", 0x31: "GSM 6.10", 0x40: "G.721 ADPCM", 0x42: "G.723.1", 0x45: "G.726",
        0x50: "MPEG audio", 0x55: "MP3", 0x64: "G.726", 0x92: "AC-3", 0xFF: "AAC", 0x160: "WMA",
        0x161: "WMA", 0x162: "WMA", 0x163: "WMA Lossless", 0x1600: "AAC", 0x1610: "AAC", 0x2000: "AC-3",
        0x2001: "DTS", 0x674F: "Vorbis", 0x6750: "Vorbis", 0x6751: "Vorbis", 0x676F: "Vorbis",
        0x6770: "Vorbis", 0x6771: "Vorbis", 0xF1AC: "FLAC",
    ]
}
