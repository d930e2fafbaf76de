import Decoding
import Foundation
import Media

/// A decoder of made-up resources: `TONE`, the number of frames, then stereo in floating point.
final class ToneDecoder: AudioDecoder {
    private static let format = AudioFormat(sampleRate: 8_000, channelCount: 2, sample: .f32)
    private static let headByteCount = 8

    private let stream: ProbedStream
    /// The tone, after the tags in front of it.
    private var start: StreamStart
    private(set) var info = StreamInfo(format: ToneDecoder.format, bytesPerSecond: 64_000)
    private var frame: FrameCount = 0
    private var frameCount: FrameCount?

    init(_ stream: ProbedStream) {
        self.stream = stream
        start = stream.start
    }

    /// A resource with a tone in each channel.
    static func bytes(seconds: Int) -> [UInt8] {
        let frames = seconds * format.sampleRate
        var bytes = Array("TONE".utf8)
        withUnsafeBytes(of: UInt32(frames).littleEndian) { bytes += $0 }
        for frame in 0..<frames {
            let samples: [Float] = [sin(Float(frame) * 0.3), sin(Float(frame) * 0.5)]
            samples.withUnsafeBytes { bytes += $0 }
        }
        return bytes
    }

    func open() async throws {
        guard frameCount == nil else { return }
        // A decoder in `Sources/Decoding` calls `stream.begun(as:)` instead, which also checks the magic
        // number.
        try await start.skipTags(of: stream.subject)
        let head = try await read(at: 0, count: Self.headByteCount)
        guard head.starts(with: "TONE".utf8), head.count == Self.headByteCount else {
            throw MediaError(.notAudio, stream.subject, "is no tone")
        }
        let count = head[4...].reversed().reduce(0) { $0 << 8 | FrameCount($1) }
        frameCount = count
        info.tags = start.tags
        info.loudness = start.loudness
        info.audioStart = start.offset + Int64(Self.headByteCount)
        info.duration = Self.format.duration(of: count)
        info.isDurationExact = true
    }

    func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        try await open()
        let width = Self.format.bytesPerFrame
        let count = min(pcm.count / width, Int((frameCount ?? 0) - frame))
        guard count > 0 else { return .end }
        let bytes = try await read(at: offset(of: frame), count: count * width)
        guard bytes.count >= width else { return .end }
        pcm.copyBytes(from: bytes.prefix(bytes.count / width * width))
        frame += FrameCount(bytes.count / width)
        return .frames(bytes.count / width)
    }

    func seek(to time: Duration) async throws -> SeekLanding {
        try await open()
        frame = min(Self.format.frames(in: time), frameCount ?? 0)
        return SeekLanding(frame: frame, isExact: true)
    }

    func seekTable() -> [UInt8] { [] }

    private func offset(of frame: FrameCount) -> Int64 {
        Int64(Self.headByteCount) + frame * Int64(Self.format.bytesPerFrame)
    }

    /// Reads `count` bytes, fewer at the end of the source, at `offset` bytes after the tags. The first ones
    /// come from the probe.
    private func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let known = start.bytes
        var bytes = Array(known.dropFirst(Int(min(offset, Int64(known.count)))).prefix(count))
        while bytes.count < count {
            let more = try await stream.source.read(
                at: start.offset + offset + Int64(bytes.count),
                count: count - bytes.count
            )
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}
