import Media

/// The chunk `COMM` of AIFF and AIFC files (Audio Interchange File Format 1.3, 1989; AIFF-C, draft of 1991).
/// Pure.
struct AIFFFormat {
    /// The bytes that are read: in AIFC the last four name the codec.
    static let byteCount = 22
    private static let plainByteCount = 18

    /// The content of the chunk.
    let bytes: [UInt8]

    /// The number of frames; 0 if the program that wrote the file did not know it.
    var frameCount: FrameCount { FrameCount(number(at: 2, 4)) }

    /// Throws if this is not PCM, or if the chunk is too short.
    func layout() throws(Refusal) -> PCMLayout {
        guard bytes.count >= Self.plainByteCount else { throw .damaged }
        let codec = bytes.count < Self.byteCount ? "NONE" : ID3Text.latin1(bytes[Self.plainByteCount...])
        // Samples are in the upper bits of whole bytes.
        let byteCount = (number(at: 6, 2) + 7) / 8
        let sample: (number: PCMEncoding.Number, byteCount: Int)
        switch codec {
        case "NONE", "twos", "sowt": sample = (.signed, byteCount)
        case "raw ": sample = (.unsigned, byteCount)
        case "in24": sample = (.signed, 3)
        case "in32": sample = (.signed, 4)
        case "fl32", "FL32": sample = (.float, 4)
        case "fl64", "FL64": sample = (.float, 8)
        default:
            let name = Self.names[codec] ?? SafeText("codec " + ID3Text.trimmed(codec))
            throw Refusal("AIFF with " + name, played: "AIFF with PCM")
        }
        return try PCMLayout(
            of: "AIFF",
            sample.number,
            byteCount: sample.byteCount,
            isBigEndian: codec != "sowt",
            sampleRate: rate,
            channelCount: number(at: 0, 2)
        )
    }

    /// The sample rate, an 80-bit floating-point number: a sign, 15 bits of exponent, and a significand
    /// without a hidden bit (IEEE 754 extended precision).
    private var rate: Double {
        let exponent = number(at: 8, 2)
        let significand = UInt64(bitPattern: bytes[10..<18].bigEndianNumber)
        return Double(sign: .plus, exponent: exponent - 16_383 - 63, significand: Double(significand))
    }

    private func number(at index: Int, _ count: Int) -> Int {
        Int(bytes[index..<index + count].bigEndianNumber)
    }

    /// Other codecs that are common in AIFC files, for messages.
    private static let names: [String: SafeText] = [
        "ulaw": "µ-law", "ULAW": "µ-law", "alaw": "A-law", "ALAW": "A-law", "ima4": "IMA ADPCM",
        "MAC3": "MACE 3:1", "MAC6": "MACE 6:1", "GSM ": "GSM 6.10", "G722": "G.722", "G726": "G.726",
        "QDMC": "QDesign Music", "QDM2": "QDesign Music", "Qclp": "PureVoice", "DWVW": "DWVW", ".mp3": "MP3",
    ]
}
