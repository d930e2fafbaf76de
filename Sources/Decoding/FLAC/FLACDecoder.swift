package import Media
import System

/// Plays FLAC, with libFLAC for its frames.
///
/// Every frame states its position, so a seek is exact wherever it lands, and a damaged frame becomes silence of its
/// length. Only `ByteSource.read` waits.
package final class FLACDecoder: AudioDecoder {
    /// The bytes of one read while playing.
    private static let readByteCount = 96 * 1024
    /// The number of frames after which the map of times is refined.
    private static let framesPerRefinement = 256

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private let checksDigest: Bool
    private var opened: Opened?
    /// The number of frames of the stream that were decoded since `open`.
    private var decodedCount = 0

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

        /// Continues with `walk`, which begins at `position`, and plays from the PCM frame `wanted` on.
        func restart(_ walk: FLACFrameWalk, at position: FrameCount, wanted: FrameCount) {
            self.walk = walk
            output.restart(at: position, playing: wanted..<FrameCount.max)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package convenience init(_ stream: ProbedStream) { self.init(stream, checksDigest: false) }

    private init(_ stream: ProbedStream, checksDigest: Bool) {
        (input, self.checksDigest) = (stream, checksDigest)
    }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Opened {
        if let opened { return opened }
        let start = try await input.begun(as: .flac)
        var head = FLACHead(at: start.offset)
        var reader = ChunkReader(start)
        do {
            while let range = head.wanted { try head.took(try await reader.bytes(in: range)) }
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject)
        }
        guard let stream = head.stream, let audioStart = head.audioStart else {
            throw Refusal.damaged.error(of: input.subject)
        }
        let handle = try await FLACHandle.opened(for: stream, of: input.subject, checksDigest: checksDigest)
        var window = ByteWindow(
            source,
            at: audioStart,
            holding: Array(reader.held(in: audioStart..<PlaceTable.farthest))
        )
        // A stream of unknown length, such as a broadcast, may begin at any position.
        var origin: FrameCount = 0
        if stream.frameCount == nil {
            try await window.fill(FLACFrameHeader.mostBytes, askingUpTo: ByteWindow.requestByteCount)
            origin =
                FLACFrameHeader.first(in: window.bytes, from: 0, isWhole: window.isAtEnd, of: stream)?.header
                .position
                ?? 0
        }
        var map = FLACMap(
            stream,
            audioStart: audioStart,
            audioEnd: source.length,
            origin: origin,
            seekPoints: head.seekPoints
        )
        map.takeStored(input.seekTable)
        let made = Opened(handle, map, bytes: window.bytes)
        if !stream.hasEqualBlocks { made.lookAhead() }
        opened = made
        input.forgetStart()
        var info = StreamInfo(format: stream.format, bytesPerSecond: 1)
        info.audioStart = audioStart
        info.codec = handle.name
        info.tags = (head.comments?.tags ?? TrackTags()).filled(from: start.tags)
        info.tags.cover = head.cover
        info.loudness = (head.comments?.loudness ?? Loudness()).filled(from: start.loudness)
        info.revise(by: map)
        self.info = info
        return made
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        let opened = try await opening()
        while true {
            let count = opened.output.pass(into: pcm)
            if count > 0 { return .frames(count) }
            switch opened.walk.next() {
            case .frame(let header, let range): decode(header, range, opened)
            case .missing(let count): opened.output.skip(count)
            case .needMore:
                let bytes = try await source.read(at: opened.walk.endOffset, count: Self.readByteCount)
                if bytes.isEmpty { opened.walk.finish() } else { opened.walk.append(bytes) }
            case .end:
                guard opened.output.position > opened.map.origin else {
                    throw Refusal.damaged.error(of: input.subject)
                }
                opened.map.audioEnd = source.length
                if opened.walk.isContinuous { opened.map.endPosition = opened.output.position }
                info.revise(by: opened.map)
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
        if decodedCount % Self.framesPerRefinement == 0 { info.revise(by: opened.map) }
        opened.output.move(to: header.position)
        let frame = opened.walk.bytes[range]
        if !opened.output.decode(frame, expecting: FrameCount(header.count)) {
            info.skippedByteCount += Int64(range.count)
        }
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        let opened = try await opening()
        opened.map.audioEnd = source.length
        if opened.walk.stream.numbersVaryingBlocks { opened.map.stream = opened.walk.stream }
        let origin = opened.map.origin
        let target = min(origin + info.format.frames(in: time), opened.map.endPosition ?? .max)
        if let end = opened.map.endPosition, target >= end {
            var walk = FLACFrameWalk(opened.map.stream, at: opened.map.audioEnd ?? 0, expecting: end)
            walk.finish()
            opened.restart(walk, at: end, wanted: end)
            return SeekLanding(frame: end - origin, isExact: true)
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
            return SeekLanding(frame: opened.output.position - origin, isExact: true)
        }
        opened.map = seek.map
        let place = landing.place
        var walk = FLACFrameWalk(opened.map.stream, at: place.offset, expecting: place.position)
        if (window.start..<window.end).contains(place.offset) {
            walk.append(Array(window.bytes[Int(place.offset - window.start)...]))
        }
        let frame = landing.isNear ? target : place.position
        opened.restart(walk, at: place.position, wanted: frame)
        info.revise(by: opened.map)
        return SeekLanding(frame: frame - origin, isExact: true)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let map = opened?.map else { return false }
        let target = map.origin + info.format.frames(in: time)
        let seek = FLACSeek(to: target, in: map)
        guard target < map.endPosition ?? .max, let wanted = seek.wanted else { return true }
        let end = max(seek.requestEnd, wanted.upperBound + Int64(ByteWindow.requestByteCount))
        return source.isStored(wanted.lowerBound..<max(wanted.lowerBound, min(end, source.length ?? .max)))
    }

    package func seekTable() -> [UInt8] {
        // The key of the table includes the length, which the next session knows when it opens the table.
        opened?.map.audioEnd = source.length
        return opened?.map.stored() ?? []
    }

    /// Decodes all of `source`: `true` if it is FLAC, also in Ogg, whose samples do not have the MD5 that it states, because
    /// it is damaged or cut short. `false` for everything else, for FLAC that states no MD5, and without libFLAC.
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
