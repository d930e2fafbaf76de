/// The samples that `wav:` and `raw:` write, in little-endian byte order.
package enum SinkSample: String, Sendable, CaseIterable {
    /// Signed integers.
    case s16, s24, s32
    /// 32-bit floating point; full scale is ±1.
    case f32

    /// The samples of `format` as they are in the memory of a little-endian machine.
    package init(_ format: SampleFormat) {
        switch format {
        case .s16: self = .s16
        case .s32: self = .s32
        case .f32: self = .f32
        }
    }

    package var byteCount: Int {
        switch self {
        case .s16: 2
        case .s24: 3
        case .s32, .f32: 4
        }
    }
}

/// Converts PCM to the samples of a file, or to those of the open stream that it continues. Pure.
///
/// To integers, values are rounded to the nearest, halves to the even one, and clipped; no dither is added.
/// NaN becomes
/// 0. To floating point, values that exceed full scale stay.
package struct SampleConversion: Sendable {
    let source: SampleFormat
    package let target: SinkSample

    /// `nil` if the samples stay as they are.
    package init?(from source: SampleFormat, to target: SinkSample) {
        guard target != SinkSample(source) else { return nil }
        self.source = source
        self.target = target
    }

    /// Converts all samples of `pcm` into the start of `bytes`, which has room for them; returns the number
    /// of bytes.
    package func convert(_ pcm: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Int {
        switch source {
        case .s16:
            let samples = pcm.assumingMemoryBound(to: Int16.self)
            return write(samples, bytes, asFloat: { Float($0) / 0x8000 }) {
                Self.rounded(Int64($0) << 16, to: $1)
            }
        case .s32:
            let samples = pcm.assumingMemoryBound(to: Int32.self)
            return write(samples, bytes, asFloat: { Float($0) / 0x8000_0000 }) {
                Self.rounded(Int64($0), to: $1)
            }
        case .f32:
            let samples = pcm.assumingMemoryBound(to: Float.self)
            return write(samples, bytes, asFloat: { $0 }, asInteger: Self.rounded)
        }
    }

    private func write<Sample>(
        _ samples: UnsafeBufferPointer<Sample>,
        _ result: UnsafeMutableRawBufferPointer,
        asFloat: (Sample) -> Float,
        asInteger: (_ sample: Sample, _ bits: Int) -> Int32
    ) -> Int {
        let width = target.byteCount
        for index in samples.indices {
            let bits =
                target == .f32
                ? asFloat(samples[index]).bitPattern
                : UInt32(bitPattern: asInteger(samples[index], width * 8))
            for byte in 0..<width {
                result[index * width + byte] = UInt8(truncatingIfNeeded: bits >> UInt32(8 * byte))
            }
        }
        return samples.count * width
    }

    /// The upper `bits` bits of the 32-bit sample `value`.
    private static func rounded(_ value: Int64, to bits: Int) -> Int32 {
        let shift = Int64(32 - bits)
        guard shift > 0 else { return Int32(truncatingIfNeeded: value) }
        // Adds just under half a step, so that a half is rounded down; but exactly half a step if the
        // truncated value is odd, so that a half is rounded up to the even one.
        let isOdd = value >> shift & 1
        let nearest = (value + 1 << (shift - 1) - 1 + isOdd) >> shift
        return Int32(min(nearest, 1 << Int64(bits - 1) - 1))
    }

    /// `sample`, of which 1 is full scale, as an integer of `bits` bits.
    private static func rounded(_ sample: Float, to bits: Int) -> Int32 {
        guard !sample.isNaN else { return 0 }
        let scale = Double(1 << Int64(bits - 1))
        return Int32(min(max((Double(sample) * scale).rounded(.toNearestOrEven), -scale), scale - 1))
    }
}
