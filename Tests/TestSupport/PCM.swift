import Glibc

/// Raw signed 16-bit little-endian audio.
package enum PCM {
    /// The samples of `bytes`; an odd byte at the end is dropped.
    package static func samples(_ bytes: [UInt8]) -> [Int16] {
        [Int16](unsafeUninitializedCapacity: bytes.count / 2) { buffer, count in
            // A plain copy: the format is little-endian, like every machine this runs on.
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes.prefix(bytes.count / 2 * 2))
            count = bytes.count / 2
        }
    }

    /// The bytes of `samples`.
    package static func bytes(_ samples: [Int16]) -> [UInt8] { samples.withUnsafeBytes { Array($0) } }

    /// One channel of interleaved samples.
    package static func channel(_ index: Int, of samples: [Int16], channels: Int) -> [Int16] {
        stride(from: index, to: samples.count, by: channels).map { samples[$0] }
    }
}

/// RIFF WAVE with signed 16-bit samples.
package enum WaveFile {
    /// The header for `sampleCount` samples, counted over all channels.
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

/// Tones whose pitch identifies the second of the music, and their detection in recorded sound.
package enum ToneAnalysis {
    /// The frequency in hertz of second `second`; it repeats after a minute.
    package static func frequency(ofSecond second: Int) -> Double { 220 + 20 * Double(second % 60) }

    /// The second (0..<60) that the tone in `samples` (one channel) stands for; `nil` if no such tone
    /// stands out. 50 ms are enough; a window that spans two seconds tells one of the two.
    package static func second(of samples: ArraySlice<Int16>, sampleRate: Double) -> Int? {
        let powers = (0..<60).map { power(of: samples, at: frequency(ofSecond: $0), sampleRate: sampleRate) }
        guard let best = powers.indices.max(by: { powers[$0] < powers[$1] }) else { return nil }
        let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        // A pure tone has all its energy here (ratio 1/2 of the count); noise has next to nothing.
        return powers[best] > 0.1 * energy * Double(samples.count) ? best : nil
    }

    /// The seconds that the pitch of `samples` (one channel) identifies, in the order heard, without
    /// repetitions. Moments with more silence than a zero crossing are skipped.
    package static func seconds(in samples: ArraySlice<Int16>, sampleRate: Double = 44_100) -> [Int] {
        let window = Int(sampleRate / 20)
        var seconds: [Int] = []
        for start in stride(from: samples.startIndex, to: samples.endIndex - window, by: window) {
            let part = samples[start..<start + window]
            if part.split(whereSeparator: { $0 != 0 }).contains(where: { $0.count >= 16 }) { continue }
            if let second = second(of: part, sampleRate: sampleRate), second != seconds.last {
                seconds.append(second)
            }
        }
        return seconds
    }

    /// The energy of the tone of `frequency` hertz in `samples`: the squared magnitude of that one
    /// term of the Fourier transform, by Goertzel's recurrence.
    package static func power(of samples: ArraySlice<Int16>, at frequency: Double, sampleRate: Double)
        -> Double
    {
        let coefficient = 2 * cos(2 * Double.pi * frequency / sampleRate)
        var last = 0.0
        var beforeLast = 0.0
        for sample in samples {
            let next = Double(sample) + coefficient * last - beforeLast
            beforeLast = last
            last = next
        }
        return last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    }
}
