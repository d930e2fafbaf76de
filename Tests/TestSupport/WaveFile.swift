/// RIFF WAVE with signed 16-bit samples.
package enum WaveFile {
    /// A whole file; `samples` has the channels in turn.
    package static func bytes(_ samples: [Int16], sampleRate: Int, channels: Int) -> [UInt8] {
        header(sampleCount: samples.count, sampleRate: sampleRate, channels: channels) + PCM.bytes(samples)
    }

    /// What stands before `sampleCount` samples, those of all channels counted.
    package static func header(sampleCount: Int, sampleRate: Int, channels: Int) -> [UInt8] {
        let size = UInt32(sampleCount * 2)
        var header = Array("RIFF".utf8) + little(36 + size) + Array("WAVEfmt ".utf8) + little(16)
        header += [1, 0, UInt8(channels), 0] + little(UInt32(sampleRate))
        header += little(UInt32(sampleRate * channels * 2)) + [UInt8(channels * 2), 0, 16, 0]
        return header + Array("data".utf8) + little(size)
    }

    private static func little(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
