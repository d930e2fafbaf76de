import Media

/// The block STREAMINFO at the start of every FLAC stream (RFC 9639 §8.2). Pure.
struct FLACStreamInfo: Equatable {
    static let byteCount = 34
    /// The fewest samples of each channel in a block that is not the last one of its stream (RFC 9639 §5.1).
    static let fewestSamples = 16

    /// The block as it is in the stream.
    let bytes: [UInt8]
    /// The number of samples of each channel in the longest block.
    let largestBlock: Int
    /// `true` if all blocks but the last one have this size.
    let hasEqualBlocks: Bool
    let sampleRate: Int
    let channelCount: Int
    let bitsPerSample: Int
    /// The number of PCM frames; `nil` if the encoder did not know it.
    let frameCount: FrameCount?

    /// `true` if blocks of varying size are numbered as if all had the same, as encoders before 2008 wrote
    /// them: then no header states a position. The frames show it.
    var numbersVaryingBlocks = false

    /// `nil` if `bytes` are too few, or not the description of a stream.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var reader = BigEndianReader(bytes)
        guard bytes.count == Self.byteCount, let smallest = reader.next(2), let largest = reader.next(2),
            reader.next(6) != nil, let first = reader.next(4), let second = reader.next(4)
        else { return nil }
        // 20 bits of rate, 3 of channels, 5 of bits per sample, and 36 of the number of samples.
        sampleRate = Int(first >> 12)
        channelCount = Int(first >> 9 & 7) + 1
        bitsPerSample = Int(first >> 4 & 31) + 1
        let count = (first & 15) << 32 | second
        frameCount = count > 0 ? count : nil
        largestBlock = Int(largest)
        hasEqualBlocks = smallest == largest
        self.bytes = bytes
        guard largestBlock >= Self.fewestSamples, smallest <= largest, bitsPerSample >= 4 else { return nil }
    }

    /// This stream in the format of `header`, with an unknown number of PCM frames; `nil` if the format is
    /// the same, or impossible.
    func changed(to header: FLACFrameHeader) -> FLACStreamInfo? {
        guard !header.agrees(with: self) else { return nil }
        let rate = header.sampleRate > 0 ? header.sampleRate : sampleRate
        let bits = header.bitsPerSample > 0 ? header.bitsPerSample : bitsPerSample
        guard PCMLayout.rates.contains(rate) else { return nil }
        let packed = UInt64(rate) << 44 | UInt64(header.channelCount - 1) << 41 | UInt64(bits - 1) << 36
        let format = (0..<8).map { UInt8(truncatingIfNeeded: packed >> UInt64(56 - 8 * $0)) }
        return FLACStreamInfo(bytes[..<10] + format + [UInt8](repeating: 0, count: 16))
    }

    /// The MD5 of all samples; `nil` if the encoder stated none.
    var digest: [UInt8]? {
        let digest = Array(bytes.suffix(16))
        return digest.contains { $0 != 0 } ? digest : nil
    }

    /// The format of the PCM: samples of at most 16 bits become 16 bits, and longer ones the upper bits of
    /// 32.
    var format: AudioFormat {
        AudioFormat(
            sampleRate: sampleRate,
            channelCount: channelCount,
            sample: bitsPerSample <= 16 ? .s16 : .s32
        )
    }

    /// The most bytes of a frame. Encoders store samples uncompressed rather than let them grow; half as much
    /// is added for encoders that do not.
    var longestFrame: Int {
        let samples = largestBlock * channelCount * (bitsPerSample + 1) / 8
        return samples + samples / 2 + 16 * channelCount + FLACFrameHeader.mostBytes
    }

    /// The mean number of bytes for one PCM frame if nothing else is known: the usual compression.
    var usualBytesPerFrame: Double { Double(bitsPerSample * channelCount) / 8 * 0.6 }
}
