import Media

/// The storage of samples in a file, and their conversion to PCM. Pure.
///
/// Integers of 8 bits become 16 bits, and those of 24 bits the upper 24 of 32 bits, both exactly; floating
/// point of 64 bits is rounded to 32. Samples that are not numbers, or infinite, become 0.
struct PCMEncoding: Equatable {
    enum Number {
        /// Integers whose middle is 0, or half of their range.
        case signed, unsigned
        case float
    }

    let number: Number
    /// The bytes of one sample: 1 to 4, or 4 and 8 for floating point. `unsigned` has 1.
    let byteCount: Int
    let isBigEndian: Bool

    /// `nil` if no such samples have `byteCount` bytes.
    init?(_ number: Number, byteCount: Int, isBigEndian: Bool) {
        switch number {
        case .unsigned: guard byteCount == 1 else { return nil }
        case .signed: guard (1...4).contains(byteCount) else { return nil }
        case .float: guard byteCount == 4 || byteCount == 8 else { return nil }
        }
        self.number = number
        self.byteCount = byteCount
        self.isBigEndian = isBigEndian
    }

    /// The format of the samples after the conversion.
    var sample: SampleFormat { number == .float ? .f32 : byteCount <= 2 ? .s16 : .s32 }

    /// For display: `16 bits`, `32-bit float`.
    var name: String { number == .float ? "\(byteCount * 8)-bit float" : "\(byteCount * 8) bits" }

    /// Converts all samples of `bytes` into the start of `pcm`, which has room for them.
    func convert(_ bytes: UnsafeRawBufferPointer, into pcm: UnsafeMutableRawBufferPointer) {
        switch (number, byteCount) {
        case (.float, 4): write(bytes, pcm) { Self.finite(Float(bitPattern: load($0, $1))) }
        case (.float, _): write(bytes, pcm) { Self.finite(Float(Double(bitPattern: load($0, $1)))) }
        case (.unsigned, _): write(bytes, pcm) { Int16(Int8(bitPattern: $0[$1] ^ 0x80)) << 8 }
        case (_, 1): write(bytes, pcm) { Int16(Int8(bitPattern: $0[$1])) << 8 }
        case (_, 2): write(bytes, pcm) { Int16(bitPattern: load($0, $1)) }
        case (_, 3):
            let (high, low) = isBigEndian ? (0, 2) : (2, 0)
            write(bytes, pcm) { bytes, index in
                let value =
                    UInt32(bytes[index + high]) << 24 | UInt32(bytes[index + 1]) << 16
                    | UInt32(bytes[index + low]) << 8
                return Int32(bitPattern: value)
            }
        default: write(bytes, pcm) { Int32(bitPattern: load($0, $1)) }
        }
    }

    private func write<Sample>(
        _ bytes: UnsafeRawBufferPointer,
        _ pcm: UnsafeMutableRawBufferPointer,
        _ sample: (UnsafeRawBufferPointer, Int) -> Sample
    ) {
        let samples = pcm.assumingMemoryBound(to: Sample.self)
        for index in 0..<bytes.count / byteCount { samples[index] = sample(bytes, index * byteCount) }
    }

    private func load<Value: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Value {
        let value = bytes.loadUnaligned(fromByteOffset: index, as: Value.self)
        return isBigEndian ? Value(bigEndian: value) : Value(littleEndian: value)
    }

    private static func finite(_ sample: Float) -> Float { sample.isFinite ? sample : 0 }
}

/// The music in a PCM file: its samples, and their arrangement in frames.
struct PCMLayout: Equatable {
    /// The rates that PulseAudio accepts, except those lower than any sound card's.
    static let rates = 1_000...768_000

    let container: SafeText
    let encoding: PCMEncoding
    let sampleRate: Int
    let channels: [ChannelPosition]

    var bytesPerFrame: Int { encoding.byteCount * channels.count }

    var format: AudioFormat {
        AudioFormat(sampleRate: sampleRate, channels: channels, sample: encoding.sample)
    }

    /// A layout as the header of `container` states it.
    ///
    /// `channels` returns the loudspeakers for a number of channels that is played. Throws if the numbers are
    /// not those of music that is played.
    init(
        of container: SafeText,
        _ number: PCMEncoding.Number,
        byteCount: Int,
        isBigEndian: Bool,
        sampleRate: Double,
        channelCount: Int,
        channels: (Int) -> [ChannelPosition] = ChannelPosition.customary
    ) throws(Refusal) {
        func refusal(_ what: String, _ played: SafeText) -> Refusal {
            Refusal(container + " with " + SafeText(what), played: played)
        }
        guard AudioFormat.channelCounts.contains(channelCount) else {
            throw refusal("\(channelCount) channels", "1 to 8 channels")
        }
        guard Double(Self.rates.lowerBound)...Double(Self.rates.upperBound) ~= sampleRate else {
            let rate = Int(exactly: sampleRate.rounded()).map { "\($0) Hz" } ?? "an impossible rate"
            throw refusal(rate, "1,000 to 768,000 Hz")
        }
        guard let encoding = PCMEncoding(number, byteCount: byteCount, isBigEndian: isBigEndian) else {
            let played: SafeText = number == .float ? "32 and 64-bit floating point" : "8 to 32 bits"
            throw refusal("samples of \(byteCount * 8) bits", played)
        }
        self.container = container
        self.encoding = encoding
        self.sampleRate = Int(sampleRate.rounded())
        self.channels = channels(channelCount)
    }
}
