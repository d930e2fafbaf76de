import Media

/// Converts 16-bit samples to those of a ring in a wider format, so that music of both follows without a gap. Exact.
final class SampleWidening {
    private let target: SampleFormat
    private let buffer: UnsafeMutableRawBufferPointer

    /// Has room for `frames`. `nil` if the samples of `format` are those of `ring`.
    init?(from format: AudioFormat, to ring: AudioFormat, frames: Int) {
        guard format.sample != ring.sample else { return nil }
        precondition(format.fits(in: ring), "only 16-bit samples are widened")
        target = ring.sample
        buffer = .allocate(byteCount: frames * ring.bytesPerFrame, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The samples of `pcm` in the format of the ring, valid until the next call.
    func widened(_ pcm: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let samples = pcm.assumingMemoryBound(to: Int16.self)
        switch target {
        case .s16: return pcm
        case .s32:
            let wide = buffer.assumingMemoryBound(to: Int32.self)
            for index in samples.indices { wide[index] = Int32(samples[index]) << 16 }
        case .f32:
            let wide = buffer.assumingMemoryBound(to: Float.self)
            for index in samples.indices { wide[index] = Float(samples[index]) / 0x8000 }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<(samples.count * target.byteCount)])
    }
}
