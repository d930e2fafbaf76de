package import Media

/// Plays files of uncompressed samples: WAV and AIFF.
///
/// A time is an offset, so a seek is exact, and needs no bytes but those that it plays.
package final class PCMDecoder: AudioDecoder {
    /// The bytes of one read: as many as the read-ahead holds.
    private static let readByteCount = ReadAheadState.mostHeld

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var opened: OpenPCM?

    package private(set) var info = StreamInfo.unopened

    /// Bytes that were read but not decoded yet, and the offset after them.
    private var pending: ArraySlice<UInt8> = []
    private var nextRead: Int64 = 0

    private struct OpenPCM: StreamClock {
        var head: PCMHead
        let layout: PCMLayout
        /// The offsets of the music as the head states them, in whole frames. The end may be larger than any
        /// file's.
        let music: ByteRange
        /// The length of the resource when it was last looked at; `nil` if unknown.
        var length: Int64?
        /// The walk over the chunks after the samples; `nil` if their end is unknown.
        var tail: ChunkWalk?
        /// The tags in front of the file, which take precedence over those of its chunks.
        let leading: (tags: TrackTags, loudness: Loudness)

        /// The offsets of the music in a resource of `length` bytes.
        var present: ByteRange { head.music(inLength: length) ?? music }

        /// `nil` if the end is unknown.
        var frameCount: FrameCount? { head.isEndless && length == nil ? nil : mostFrames }

        private var mostFrames: FrameCount {
            (present.upperBound - present.lowerBound) / FrameCount(layout.bytesPerFrame)
        }

        var audio: ByteRange? { present }

        var duration: Duration? { frameCount.map(layout.format.duration) }

        var isDurationExact: Bool { frameCount != nil }

        var bytesPerSecond: Double { Double(layout.sampleRate * layout.bytesPerFrame) }

        /// The frame at `time`; the nearest one if `time` is outside the music.
        func frame(at time: Duration) -> FrameCount { min(layout.format.frames(in: time), mostFrames) }

        func offset(of frame: FrameCount) -> Int64 {
            music.lowerBound + frame * FrameCount(layout.bytesPerFrame)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> OpenPCM {
        try Task.checkCancellation()
        if let opened { return opened }
        let start = try await input.begun(as: .wave, .aiff)
        var head = PCMHead(length: source.length)
        var chunks = ChunkReader(start)
        let walk = try await input.reporting { try await chunks.read(&head) }
        guard let layout = head.layout, let samples = head.samples, let music = head.music() else {
            throw Refusal.damaged.error(of: input.subject)
        }
        let leading = (start.tags, start.loudness)
        var made = OpenPCM(head: head, layout: layout, music: music, length: source.length, leading: leading)
        guard !made.present.isEmpty else {
            throw MediaError(.emptyResource, input.subject, "is empty: there is nothing to play")
        }
        if !head.isEndless { made.tail = walk.continued(after: samples) }
        pending = chunks.held(in: music)
        nextRead = music.lowerBound + Int64(pending.count)
        opened = made
        input.forgetStart()
        info = Self.info(of: made)
        while try await readTail() {}
        return made
    }

    private static func info(of opened: OpenPCM) -> StreamInfo {
        let layout = opened.layout
        var info = StreamInfo(format: layout.format, bytesPerSecond: opened.bytesPerSecond)
        info.audioStart = opened.music.lowerBound
        info.codec = layout.container + ", " + SafeText(layout.encoding.name)
        info.tags = opened.leading.tags.filled(from: opened.head.tags)
        info.loudness = opened.leading.loudness.filled(from: opened.head.loudness)
        info.revise(by: opened)
        return info
    }

    /// Takes over the length of the resource if it has changed: the file is a recording in progress.
    private func lookAtLength() {
        guard let length = source.length, length != opened?.length else { return }
        opened?.length = length
        if let opened { info.revise(by: opened) }
    }

    /// Reads the next chunk after the music without a request. Returns `false` if there is no further chunk,
    /// or if its bytes are not stored yet.
    private func readTail() async throws -> Bool {
        guard var tail = opened?.tail, let wanted = tail.wanted, let length = source.length,
            // The samples were cut, or are still being written.
            wanted.lowerBound <= length
        else { return false }
        let bytes = try await source.allStored(in: wanted.clamped(to: 0..<length))
        guard let bytes else { return false }
        let chunk = tail.took(bytes)
        opened?.tail = tail
        // A layout is known already, so nothing is refused.
        if let chunk { try? opened?.head.receive(chunk) }
        // Published only after the last chunk, so that the listener sees only the best of several titles.
        guard tail.wanted == nil, let opened else { return true }
        info = Self.info(of: opened)
        return false
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        let opened = try await opening()
        let width = opened.layout.bytesPerFrame
        while pending.count < width {
            guard try await readOn(in: opened.music) else {
                ended(opened)
                return .end
            }
        }
        let frames = min(pcm.count / info.format.bytesPerFrame, pending.count / width)
        let taken = pending.prefix(frames * width)
        taken.withUnsafeBytes { opened.layout.encoding.convert($0, into: pcm) }
        pending = pending.dropFirst(taken.count)
        return .frames(frames)
    }

    /// Reads the next bytes; `false` at the end of the music or of the resource.
    private func readOn(in music: ByteRange) async throws -> Bool {
        let count = min(music.upperBound - nextRead, Int64(Self.readByteCount))
        guard count > 0 else { return false }
        let bytes = try await source.read(at: nextRead, count: Int(count))
        nextRead += Int64(bytes.count)
        pending = pending.isEmpty ? bytes[...] : pending + bytes
        return !bytes.isEmpty
    }

    /// The music ended, perhaps before its stated end: its length is known now.
    private func ended(_ opened: OpenPCM) {
        var ended = opened
        ended.length = min(nextRead, source.length ?? nextRead)
        info.revise(by: ended)
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        let opened = try await opening()
        lookAtLength()
        let music = opened.music
        let frame = (self.opened ?? opened).frame(at: time)
        let offset = opened.offset(of: frame)
        // Read already here, so that the read-ahead, which is allowed after a seek, continues from this
        // offset.
        let count = Int(min(music.upperBound - offset, Int64(Self.readByteCount)))
        let bytes = count > 0 ? try await source.read(at: offset, count: count) : []
        pending = bytes[...]
        nextRead = offset + Int64(bytes.count)
        return SeekLanding(frame: frame, isExact: true)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened else { return false }
        // A quarter of a second, which is the length of the sink's buffer.
        let frame = opened.frame(at: time)
        let offset = opened.offset(of: frame)
        let wanted = opened.offset(of: frame + FrameCount(opened.layout.sampleRate / 4))
        let end = min(wanted, opened.music.upperBound, source.length ?? .max)
        return source.isStored(offset..<max(offset, end))
    }

    /// Nothing: positions are computed.
    package func seekTable() -> [UInt8] { [] }

    package func scanStored() async throws -> Bool {
        _ = try await opening()
        lookAtLength()
        return try await readTail()
    }
}
