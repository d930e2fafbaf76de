package import Media
import System

/// Plays FLAC, with libFLAC for its frames.
///
/// Every frame states its position, so a seek is exact wherever it lands, and a damaged frame becomes silence
/// of its length. Files that were joined are several streams, and so is one that changes its format. Only
/// `ByteSource.read` waits.
package final class FLACDecoder: AudioDecoder {
    /// The number of frames after which the map of times is refined.
    private static let framesPerRefinement = 256

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    /// The streams that were reached.
    private var chain = StreamChain<FLACMap>()
    private var place: Place?
    /// The number of frames that were decoded since `open`.
    private var decodedCount = 0

    package private(set) var info = StreamInfo.unopened

    /// The place up to which the stream is decoded that is played. A class, so that the bytes have one owner
    /// and are changed in place.
    private final class Place {
        let output: PacketOutput
        var walk: FLACFrameWalk

        init(_ handle: FLACHandle, _ walk: FLACFrameWalk) {
            self.walk = walk
            output = PacketOutput(handle)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Place {
        try Task.checkCancellation()
        if let place { return place }
        let start = try await input.begun(as: .flac)
        let (head, stream, window) = try await input.reporting {
            try await FLACHead.read(ChunkReader(start), at: start.offset)
        }
        var (map, made) = try await begin(stream, window, head.seekPoints)
        // The first frames show if headers state positions, so that the first seek knows it.
        var ahead = made.walk
        while !stream.hasEqualBlocks, !map.stream.numbersVaryingBlocks, case .frame = ahead.next() {
            map.stream = ahead.stream
        }
        map.restore(input.seekTable)
        chain.streams = [map]
        place = made
        input.forgetStart()
        info.audioStart = map.audioStart
        info.tags = (head.comments?.tags ?? TrackTags()).filled(from: start.tags)
        info.tags.cover = head.cover ?? info.tags.cover
        info.loudness = (head.comments?.loudness ?? Loudness()).filled(from: start.loudness)
        update(made)
        return made
    }

    /// Begins `stream`, whose first frame is at the start of `window`, and which follows the one that is
    /// played.
    private func begin(
        _ stream: FLACStreamInfo,
        _ window: ByteWindow,
        _ seekPoints: [PlaceTable.Place] = []
    ) async throws -> (FLACMap, Place) {
        let handle = try await FLACHandle.opened(for: stream, of: input.subject)
        var window = window
        // A stream of unknown length, such as a broadcast, may begin at any position.
        var first: FLACFrameHeader?
        if stream.frameCount == nil {
            try await window.fill(FLACFrameHeader.mostBytes, askingUpTo: ByteWindow.requestByteCount)
            first =
                FLACFrameHeader.first(in: window.bytes, from: 0, isWhole: window.isAtEnd, of: stream)?.header
        }
        let map = FLACMap(
            stream,
            audioStart: window.start,
            audioEnd: source.length,
            origin: first?.position ?? 0,
            startTime: chain.streams.isEmpty ? .zero : chain.current.endTime,
            seekPoints: seekPoints
        )
        let made = Place(handle, FLACFrameWalk(stream, at: map.audioStart, expecting: map.origin))
        made.walk.append(window.bytes)
        made.output.move(to: map.origin)
        return (map, made)
    }

    /// Continues behind `last` with the stream that begins at `offset`: with a head, unless `stream`
    /// describes it.
    private func turn(from last: Place, at offset: Int64, to stream: FLACStreamInfo?) async throws -> Place {
        ended(last, at: offset)
        chain.streams[chain.playing].note(end: last.output.position)
        let found: (stream: FLACStreamInfo, frames: ByteWindow)
        if let stream {
            found = (stream, ByteWindow(source, at: offset))
        } else {
            let read = try await input.reporting {
                try await FLACHead.read(ChunkReader(source, at: offset), at: offset)
            }
            found = (read.stream, read.frames)
        }
        let (map, next) = try await begin(found.stream, found.frames)
        try chain.go(on: map, in: input)
        place = next
        // Another format is reported before its facts.
        if next.output.format == info.format { update(next) }
        return next
    }

    /// The stream that is played ends at `offset`.
    private func ended(_ place: Place, at offset: Int64?) {
        chain.streams[chain.playing].audioEnd = offset
        if place.walk.isContinuous { chain.streams[chain.playing].endPosition = place.output.position }
    }

    private func update(_ place: Place) {
        info.format = place.output.format
        info.codec = place.output.codec.name
        info.revise(by: chain)
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        var place = try await opening()
        while true {
            if place.output.format != info.format {
                update(place)
                return .formatChanged
            }
            let count = place.output.pass(into: pcm)
            if count > 0 {
                chain.heard()
                return .frames(count)
            }
            switch place.walk.next() {
            case .frame(let header, let range): decode(header, range, place)
            case .missing(let count): place.output.skip(count)
            case .turn(let offset, let stream): place = try await turn(from: place, at: offset, to: stream)
            case .needMore:
                let offset = place.walk.endOffset
                let bytes = try await source.read(at: offset, count: ByteWindow.playingByteCount)
                if bytes.isEmpty { place.walk.finish() } else { place.walk.append(bytes) }
            case .end:
                guard place.output.position > chain.current.origin else {
                    throw Refusal.damaged.error(of: input.subject)
                }
                ended(place, at: source.length)
                update(place)
                return .end
            }
        }
    }

    /// Decodes a frame, whose bytes are at `range` of the walk's.
    private func decode(_ header: FLACFrameHeader, _ range: Range<Int>, _ place: Place) {
        let offset = place.walk.offset + Int64(range.lowerBound)
        // The walk finds while playing that headers state no position, and a seek from another part needs it.
        if place.walk.stream.numbersVaryingBlocks != chain.current.stream.numbersVaryingBlocks {
            chain.streams[chain.playing].stream = place.walk.stream
        }
        if place.walk.isContinuous {
            chain.streams[chain.playing].record(.init(position: header.position, offset: offset))
        }
        decodedCount += 1
        if decodedCount % Self.framesPerRefinement == 0 { update(place) }
        place.output.move(to: header.position)
        if !place.output.decode(place.walk.bytes[range], expecting: FrameCount(header.count)) {
            info.skippedByteCount += Int64(range.count)
        }
    }

    /// The bytes at the end of the resource, which have its last frames; `nil` if they were looked at.
    private var tail: ByteRange? {
        let longest = chain.streams.last?.stream.longestFrame ?? 0
        return chain.tail(of: ByteWindow.requestByteCount + 2 * longest, length: source.length)
    }

    /// Learns from the frames in `bytes`, which end the resource, if the last stream states too few PCM
    /// frames, or no number.
    private func receiveTail(_ bytes: [UInt8], in range: ByteRange) {
        guard var map = chain.streams.last else { return }
        chain.tailLength = range.upperBound
        map.audioEnd = range.upperBound
        var walk = FLACFrameWalk(map.stream, at: range.lowerBound, expecting: map.origin)
        walk.append(bytes)
        walk.finish()
        steps: while true {
            switch walk.next() {
            case .frame(let header, _) where !walk.stream.numbersVaryingBlocks: map.note(end: header.end)
            case .frame, .missing: continue
            case .turn, .needMore, .end: break steps
            }
        }
        chain.streams[chain.streams.count - 1] = map
        info.revise(by: chain)
    }

    package func scanStored() async throws -> Bool {
        _ = try await opening()
        if let tail, let bytes = try await source.allStored(in: tail) { receiveTail(bytes, in: tail) }
        return false
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        var place = try await opening()
        let number = chain.number(at: time)
        let isLast = number == chain.streams.count - 1
        let known = chain.streams[number]
        if isLast, known.format.frames(in: time - known.startTime) > known.frameCount ?? .max, let tail {
            source.willRead(tail)
            receiveTail(try await source.window(of: tail).bytes, in: tail)
        }
        var map = chain.streams[number]
        if isLast { map.audioEnd = source.length }
        let last = isLast ? FrameCount.max : (map.endPosition ?? .max) - 1
        let target = min(map.origin + map.frames(before: time), last)
        var landing = FLACSeek.Landing(
            place: .init(position: target, offset: map.audioEnd ?? 0),
            isNear: true
        )
        let isAtEnd = target >= map.endPosition ?? .max
        var window = ByteWindow(source, at: landing.place.offset)
        if !isAtEnd {
            var seek = FLACSeek(to: target, in: map)
            while let wanted = seek.wanted {
                if window.start != wanted.lowerBound { window = ByteWindow(source, at: wanted.lowerBound) }
                source.willRead(wanted.lowerBound..<max(wanted.upperBound, seek.requestEnd))
                try await window.fill(wanted.count, askingUpTo: ByteWindow.requestByteCount)
                seek.took(window.bytes, isWhole: window.isAtEnd)
            }
            map = seek.map
            landing = seek.landing ?? landing
        }
        let start = landing.place
        let walk = FLACFrameWalk(map.stream, at: start.offset, expecting: start.position)
        if number != chain.playing {
            place = Place(try await FLACHandle.opened(for: map.stream, of: input.subject), walk)
        }
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        place.walk = walk
        if isAtEnd {
            place.walk.finish()
        } else if (window.start..<window.end).contains(start.offset) {
            place.walk.append(Array(window.bytes[Int(start.offset - window.start)...]))
        }
        let frame = landing.isNear ? target : start.position
        place.output.restart(at: start.position, playing: frame..<FrameCount.max)
        chain.streams[number] = map
        chain.playing = number
        self.place = place
        update(place)
        return map.landing(at: frame - map.origin, isExact: true)
    }

    package func isStored(at time: Duration) -> Bool {
        guard !chain.streams.isEmpty else { return false }
        let map = chain.streams[chain.number(at: time)]
        let target = map.origin + map.frames(before: time)
        let seek = FLACSeek(to: target, in: map)
        guard target < map.endPosition ?? .max, let wanted = seek.wanted else { return true }
        let end = max(seek.requestEnd, wanted.upperBound + Int64(ByteWindow.requestByteCount))
        return source.isStored(wanted.lowerBound..<max(wanted.lowerBound, min(end, source.length ?? .max)))
    }

    package func seekTable() -> [UInt8] {
        guard chain.streams.count == 1 else { return [] }
        // The key of the table includes the length, which the next session knows when it opens the table.
        chain.streams[0].audioEnd = source.length
        return chain.current.stored()
    }
}
