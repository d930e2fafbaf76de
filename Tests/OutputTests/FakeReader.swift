import Media
import System

/// A reader whose frames are put in by the test; each frame's samples tell its number.
final class FakeReader: PCMReader {
    private struct State {
        var bytes: [UInt8] = []
        var start = 0
        var isFinished = false
        var readCount = 0
        var takenBytes = 0
    }

    private let state = Locked(State())
    let format: AudioFormat

    init(_ format: AudioFormat = .cd) { self.format = format }

    func append(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Frames that were read since the start.
    var takenFrames: FrameCount {
        state.withLock { Int64($0.takenBytes / format.bytesPerFrame) }
    }

    /// How often the output looked.
    var readCount: Int { state.withLock { $0.readCount } }

    /// Drops what was not read: what a ring does at a seek.
    func dropRest() {
        state.withLock { state in state.start = state.bytes.count }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            state.readCount += 1
            let frame = format.bytesPerFrame
            let count = min(buffer.count / frame * frame, state.bytes.count - state.start)
            if count > 0 {
                buffer.copyBytes(from: state.bytes[state.start..<state.start + count])
                state.start += count
                state.takenBytes += count
            }
            return count
        }
    }

    var availableBytes: Int { state.withLock { $0.bytes.count - $0.start } }
    var isFinished: Bool { state.withLock { $0.isFinished } }
}

extension AudioFormat {
    static let cd = AudioFormat(sampleRate: 44_100, channelCount: 2)
    static let speech = AudioFormat(sampleRate: 22_050, channelCount: 1)

    /// Frames numbered from `first`, each different from its neighbours.
    func numbered(_ count: Int, from first: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * bytesPerFrame)
        for frame in first..<first + count {
            let low = UInt8(truncatingIfNeeded: frame)
            let high = UInt8(truncatingIfNeeded: frame >> 8)
            bytes +=
                channelCount == 1 ? [low, high] : [low, high, UInt8(truncatingIfNeeded: frame >> 16), 1]
        }
        return bytes
    }
}
