import Media

/// Memory for frames that nobody will hear, used by one thread at a time.
final class ScratchBuffer: @unchecked Sendable {
    // Unchecked: the owner calls `discard` with its lock held.
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 4)

    deinit { bytes.deallocate() }

    /// Reads up to `count` frames away and returns how many there were.
    func discard(_ count: FrameCount, of reader: any PCMReader, _ format: AudioFormat) -> FrameCount {
        var taken: FrameCount = 0
        while taken < count {
            let frames = min(count - taken, Int64(bytes.count / format.bytesPerFrame))
            let size = reader.read(into: .init(rebasing: bytes[..<(Int(frames) * format.bytesPerFrame)]))
            if size == 0 { break }
            taken += Int64(size / format.bytesPerFrame)
        }
        return taken
    }
}
