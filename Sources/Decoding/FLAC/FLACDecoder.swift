package import Media
import System

/// Plays FLAC, with libFLAC for its frames.
///
/// Every frame states its position, so a seek is exact wherever it lands, and a damaged frame becomes silence
/// of its length. Only `ByteSource.read` waits.
package final class FLACDecoder: AudioDecoder {
    /// The bytes of one read while playing.
    private static let readByteCount = 96 * 1024
    /// The number of frames after which the map of times is refined.
    private static let framesPerRefinement = 256

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private let checksDigest: Bool
    /// The stream that is played, and all that were reached: files that were joined have several, and so has
    /// a stream that changes its format.
    private var opened: Opened?
    private var parts: [Opened] = []
    /// The most streams that are kept. A later one takes the place of the last.
    private static let mostParts = 64
    /// The number of streams that began since the last sound, and the most of them.
    private var emptyPartCount = 0
    private static let mostEmptyParts = 64
    private var hasFormatChange = false
    /// The number of frames of the stream that were decoded since `open`.
    private var decodedCount = 0
    /// The length of the resource when its end was looked at; `nil` before that.
    private var tailLength: Int64?

    package private(set) var info = StreamInfo.unopened

    /// An open stream. A class, so that the map and the bytes have one owner and are changed in place.
    private final class Opened {
        let handle: FLACHandle
        let output: PacketOutput
        var map: FLACMap
        var walk: FLACFrameWalk

        init(_ handle: FLACHandle, _ map: FLACMap, bytes: [UInt8]) {
            self.handle = handle
            self.map = map
            output = PacketOutput(handle)
            walk = FLACFrameWalk(map.stream, at: map.audioStart, expecting: map.origin)
            walk.append(bytes)
            output.move(to: map.origin)
        }

        /// Learns from the first frames if headers state positions, so that the first seek knows it.
        func lookAhead() {
            var ahead = walk
            while !map.stream.numbersVaryingBlocks, case .frame = ahead.next() { map.stream = ahead.stream }
        }

        /// The position after its last frame in the music of the resource.
        var endTime: Duration {
            map.startTime + map.stream.format.duration(of: (map.endPosition ?? output.position) - map.origin)
        }

        /// Continues with its first frame.
        func rewind() {
            let walk = FLACFrameWalk(map.stream, at: map.audioStart, expecting: map.origin)
            restart(walk, at: map.origin, wanted: map.origin)
        }

        /// Continues with `walk`, which begins at `position`, and plays from the PCM frame `wanted` on.
        func restart(_ walk: FLACFrameWalk, at position: FrameCount, wanted: FrameCount) {
            self.walk = walk
            output.restart(at: position, playing: wanted..<FrameCount.max)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package convenience init(_ stream: ProbedStream) { self.init(stream, checksDigest: false) }

    private init(_ stream: ProbedStream, checksDigest: Bool) {
        input = stream
        self.checksDigest = checksDigest
    }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Opened {
        if let opened { return opened }
        let start = try await input.begun(as: .flac)
        var reader = ChunkReader(start)
        let (head, made) = try await part(at: start.offset, &reader)
        made.map.takeStored(input.seekTable)
        if !made.map.stream.hasEqualBlocks { made.lookAhead() }
        parts = [made]
        opened = made
        input.forgetStart()
        var info = StreamInfo(format: made.map.stream.format, bytesPerSecond: 1)
        info.audioStart = made.map.audioStart
        info.codec = made.handle.name
        info.tags = (head.comments?.tags ?? TrackTags()).filled(from: start.tags)
        info.tags.cover = head.cover
        info.loudness = (head.comments?.loudness ?? Loudness()).filled(from: start.loudness)
        info.revise(by: made.map)
        self.info = info
        return made
    }

    /// Opens the stream whose head is at `offset`.
    private func part(at offset: Int64, _ reader: inout ChunkReader, after last: Opened? = nil) async throws
        -> (head: FLACHead, part: Opened)
    {
        var head = FLACHead(at: offset)
        do {
            while let range = head.wanted { try head.took(try await reader.bytes(in: range)) }
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject)
        }
        guard let stream = head.stream, let audioStart = head.audioStart else {
            throw Refusal.damaged.error(of: input.subject)
        }
        let held = Array(reader.held(in: audioStart..<PlaceTable.farthest))
        let window = ByteWindow(source, at: audioStart, holding: held)
        return (head, try await part(stream, window, head.seekPoints, after: last))
    }

    /// Opens `stream`, whose first frame is at the start of `window`, and which follows `last`.
    private func part(
        _ stream: FLACStreamInfo,
        _ window: ByteWindow,
        _ seekPoints: [PlaceTable.Place] = [],
        after last: Opened?
    ) async throws -> Opened {
        let isChecked = checksDigest && last == nil
        let handle = try await FLACHandle.opened(for: stream, of: input.subject, checksDigest: isChecked)
        var window = window
        // A stream of unknown length, such as a broadcast, may begin at any position.
        var origin: FrameCount = 0
        if stream.frameCount == nil {
            try await window.fill(FLACFrameHeader.mostBytes, askingUpTo: ByteWindow.requestByteCount)
            origin =
                FLACFrameHeader.first(in: window.bytes, from: 0, isWhole: window.isAtEnd, of: stream)?.header
                .position
                ?? 0
        }
        let map = FLACMap(
            stream,
            audioStart: window.start,
            audioEnd: source.length,
            origin: origin,
            startTime: last?.endTime ?? .zero,
            seekPoints: seekPoints
        )
        return Opened(handle, map, bytes: window.bytes)
    }

    /// Continues behind `last` with the stream that begins at `offset`: with a head, unless `stream`
    /// describes it.
    private func turn(from last: Opened, at offset: Int64, to stream: FLACStreamInfo?) async throws -> Opened
    {
        emptyPartCount += 1
        guard emptyPartCount <= Self.mostEmptyParts else {
            throw Refusal.damaged.error(of: input.subject)
        }
        if last.walk.isContinuous { last.map.endPosition = last.output.position }
        last.map.audioEnd = offset
        let number = (parts.firstIndex { $0 === last } ?? 0) + 1
        let next: Opened
        if number < parts.count, parts[number].map.startTime == last.endTime {
            next = parts[number]
            next.rewind()
        } else {
            if let stream {
                next = try await part(stream, ByteWindow(source, at: offset), after: last)
            } else {
                var reader = ChunkReader(source, at: offset)
                next = try await part(at: offset, &reader, after: last).part
            }
            parts = parts.prefix(min(number, Self.mostParts - 1)) + [next]
        }
        let format = info.format
        begin(next)
        hasFormatChange = info.format != format
        return next
    }

    /// Continues with `part`.
    private func begin(_ part: Opened) {
        opened = part
        hasFormatChange = false
        info.format = part.map.stream.format
        info.codec = part.handle.name
        refine()
    }

    /// Updates `info` from the last stream that was reached.
    private func refine() {
        if let last = parts.last { info.revise(by: last.map) }
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        var opened = try await opening()
        while true {
            if hasFormatChange {
                hasFormatChange = false
                return .formatChanged
            }
            let count = opened.output.pass(into: pcm)
            if count > 0 {
                emptyPartCount = 0
                return .frames(count)
            }
            switch opened.walk.next() {
            case .frame(let header, let range): decode(header, range, opened)
            case .missing(let count): opened.output.skip(count)
            case .turn(let offset, let stream):
                opened = try await turn(from: opened, at: offset, to: stream)
            case .needMore:
                let bytes = try await source.read(at: opened.walk.endOffset, count: Self.readByteCount)
                if bytes.isEmpty { opened.walk.finish() } else { opened.walk.append(bytes) }
            case .end:
                guard opened.output.position > opened.map.origin else {
                    throw Refusal.damaged.error(of: input.subject)
                }
                opened.map.audioEnd = source.length
                if opened.walk.isContinuous { opened.map.endPosition = opened.output.position }
                refine()
                return .end
            }
        }
    }

    /// Decodes a frame, whose bytes are at `range` of the walk's.
    private func decode(_ header: FLACFrameHeader, _ range: Range<Int>, _ opened: Opened) {
        let offset = opened.walk.offset + Int64(range.lowerBound)
        if opened.walk.isContinuous {
            opened.map.record(PlaceTable.Place(position: header.position, offset: offset))
        }
        decodedCount += 1
        if decodedCount % Self.framesPerRefinement == 0 { refine() }
        opened.output.move(to: header.position)
        let frame = opened.walk.bytes[range]
        if !opened.output.decode(frame, expecting: FrameCount(header.count)) {
            info.skippedByteCount += Int64(range.count)
        }
    }

    /// The bytes at the end of the resource, which have its last frames; `nil` if they were looked at.
    private func tail(of opened: Opened) -> ByteRange? {
        guard let length = source.length, length != tailLength, length > opened.map.audioStart else {
            return nil
        }
        let count = Int64(ByteWindow.requestByteCount + 2 * opened.map.stream.longestFrame)
        return max(opened.map.audioStart, length - count)..<length
    }

    /// Learns from the frames in `bytes`, which end the resource, if the stream states too few PCM frames, or
    /// no number.
    private func takeTail(_ bytes: [UInt8], in range: ByteRange, _ opened: Opened) {
        tailLength = range.upperBound
        opened.map.audioEnd = range.upperBound
        var walk = FLACFrameWalk(opened.map.stream, at: range.lowerBound, expecting: opened.map.origin)
        walk.append(bytes)
        walk.finish()
        while true {
            switch walk.next() {
            case .frame(let header, _) where !walk.stream.numbersVaryingBlocks:
                opened.map.note(end: header.end)
            case .frame, .missing: break
            case .turn, .needMore, .end: return refine()
            }
        }
    }

    package func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        _ = try await opening()
        if let opened = parts.last, let range = tail(of: opened),
            let bytes = try await source.allStored(in: range)
        {
            takeTail(bytes, in: range, opened)
        }
        return false
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        _ = try await opening()
        let number = number(at: time)
        let isLast = number == parts.count - 1
        let opened = parts[number]
        let format = opened.map.stream.format
        let wanted = opened.map.origin + format.frames(in: time - opened.map.startTime)
        if isLast, wanted > opened.map.endPosition ?? .max, let range = tail(of: opened) {
            var window = ByteWindow(source, at: range.lowerBound)
            source.willRead(range)
            try await window.fill(range.count, askingUpTo: range.count)
            takeTail(window.bytes, in: range, opened)
        }
        if isLast { opened.map.audioEnd = source.length }
        if opened.walk.stream.numbersVaryingBlocks { opened.map.stream = opened.walk.stream }
        let origin = opened.map.origin
        let target = min(wanted, (opened.map.endPosition ?? .max) - (isLast ? 0 : 1))
        let start = format.frames(in: opened.map.startTime)
        if let end = opened.map.endPosition, target >= end {
            var walk = FLACFrameWalk(opened.map.stream, at: opened.map.audioEnd ?? 0, expecting: end)
            walk.finish()
            opened.restart(walk, at: end, wanted: end)
            begin(opened)
            return SeekLanding(frame: start + end - origin, isExact: true)
        }
        var seek = FLACSeek(to: target, in: opened.map)
        var window = ByteWindow(source, at: 0)
        while let wanted = seek.wanted {
            if window.start != wanted.lowerBound { window = ByteWindow(source, at: wanted.lowerBound) }
            source.willRead(wanted.lowerBound..<max(wanted.upperBound, seek.requestEnd))
            try await window.fill(wanted.count, askingUpTo: ByteWindow.requestByteCount)
            seek.took(window.bytes, isWhole: window.isAtEnd)
        }
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        guard let landing = seek.landing else {
            return SeekLanding(frame: start + opened.output.position - origin, isExact: true)
        }
        opened.map = seek.map
        let place = landing.place
        var walk = FLACFrameWalk(opened.map.stream, at: place.offset, expecting: place.position)
        if (window.start..<window.end).contains(place.offset) {
            walk.append(Array(window.bytes[Int(place.offset - window.start)...]))
        }
        let frame = landing.isNear ? target : place.position
        opened.restart(walk, at: place.position, wanted: frame)
        begin(opened)
        return SeekLanding(frame: start + frame - origin, isExact: true)
    }

    /// The number of the stream that is played at `time`, as far as is known.
    private func number(at time: Duration) -> Int { parts.lastIndex { $0.map.startTime <= time } ?? 0 }

    package func isStored(at time: Duration) -> Bool {
        guard !parts.isEmpty else { return false }
        let map = parts[number(at: time)].map
        let target = map.origin + map.stream.format.frames(in: time - map.startTime)
        let seek = FLACSeek(to: target, in: map)
        guard target < map.endPosition ?? .max, let wanted = seek.wanted else { return true }
        let end = max(seek.requestEnd, wanted.upperBound + Int64(ByteWindow.requestByteCount))
        return source.isStored(wanted.lowerBound..<max(wanted.lowerBound, min(end, source.length ?? .max)))
    }

    package func seekTable() -> [UInt8] {
        // The key of the table includes the length, which the next session knows when it opens the table.
        guard parts.count == 1, let opened else { return [] }
        opened.map.audioEnd = source.length
        return opened.map.stored()
    }

    /// Decodes all of `source`: `true` if it is FLAC, also in Ogg, whose samples do not have the MD5 that it
    /// states, because it is damaged or cut short. `false` for everything else, for FLAC that states no MD5,
    /// and without libFLAC.
    package static func isDamaged(_ source: any ByteSource) async throws -> Bool {
        var stream = ProbedStream(source: source, subject: "")
        let decoder: FLACDecoder
        let opened: Opened
        do {
            try await stream.start.skipTags(of: "")
            switch try await stream.start.kind() {
            case .flac: break
            case .ogg:
                let start = stream.start
                return try await FLACMapping.isDamaged(
                    OggPageReader(source, at: start.offset, holding: start.bytes)
                )
            default: return false
            }
            decoder = FLACDecoder(stream, checksDigest: true)
            opened = try await decoder.opening()
        } catch is MediaError {
            return false
        }
        guard opened.map.stream.digest != nil else { return false }
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: readByteCount, alignment: 16)
        defer { pcm.deallocate() }
        do {
            while case .frames = try await decoder.decode(into: pcm) {}
        } catch is MediaError {
            return true
        }
        return opened.output.isDamaged || !opened.handle.finish()
    }
}
