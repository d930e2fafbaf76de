import Media

/// The 44 bytes in front of PCM in a RIFF/WAVE file (Multimedia Programming Interface 1.0, 1991).
struct WAVHeader {
    static let byteCount = 44

    var format: AudioFormat
    /// The bytes of PCM that follow. Sizes in RIFF have 32 bits: a larger count is written as the
    /// largest that fits, which readers take for "up to the end of the file".
    var dataBytes: Int64

    var bytes: [UInt8] {
        let behindSize = Int64(Self.byteCount - 8)
        let largest =
            (Int64(UInt32.max) - behindSize) / Int64(format.bytesPerFrame) * Int64(format.bytesPerFrame)
        let data = UInt32(clamping: min(max(dataBytes, 0), largest))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes += "RIFF".utf8
        append(data + UInt32(behindSize), to: &bytes)
        bytes += "WAVEfmt ".utf8
        append(UInt32(16), to: &bytes)
        append(UInt16(1), to: &bytes)  // WAVE_FORMAT_PCM
        append(UInt16(clamping: format.channelCount), to: &bytes)
        append(UInt32(clamping: format.sampleRate), to: &bytes)
        append(UInt32(clamping: format.sampleRate * format.bytesPerFrame), to: &bytes)
        append(UInt16(clamping: format.bytesPerFrame), to: &bytes)
        append(UInt16(AudioFormat.bytesPerSample * 8), to: &bytes)
        bytes += "data".utf8
        append(data, to: &bytes)
        return bytes
    }

    private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
}
