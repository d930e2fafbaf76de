import Media

/// Converts the samples of a track to those of the ring in which it follows another one.
final class RingConversion {
    private let conversion: SampleConversion
    private let buffer: UnsafeMutableRawBufferPointer

    /// Has room for `frames`. `nil` if the samples of `format` are those of `ring`.
    init?(from format: AudioFormat, to ring: AudioFormat, frames: Int) {
        guard let conversion = SampleConversion(from: format.sample, to: SinkSample(ring.sample)) else {
            return nil
        }
        precondition(
            format.channels == ring.channels && format.sampleRate == ring.sampleRate,
            "music follows other music of the same rate and channels only"
        )
        self.conversion = conversion
        buffer = .allocate(byteCount: frames * ring.bytesPerFrame, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The samples of `pcm` in the format of the ring, valid until the next call.
    func converted(_ pcm: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[..<conversion.convert(pcm, into: buffer)])
    }
}
