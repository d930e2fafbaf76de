package import Media

/// Decodes MPEG audio, Layers I to III, with libmpg123.
///
/// Decoding from the start yields the same samples as the reference decoder (`mpg123 -q -s --resync-limit
/// 65536`), which is fed the frames only (`FrameGate`). A seek restarts libmpg123 at a frame whose offset
/// `StreamMap` knows or estimates; libmpg123's own seeking is not used. Only `ByteSource.read` waits, so
/// cancelling the task needs no further code.
package final class MPEGDecoder: AudioDecoder {
    private var input: ProbedStream
    private var source: any ByteSource { input.source }

    package private(set) var info = StreamInfo.unopened
    package private(set) var correctedLanding: SeekLanding?

    private(set) var opened: OpenStream?
    private var feed = FeedPosition(firstFrame: 0, start: 0, isExact: true, wantedSample: 0)
    /// The gate of the bytes from `feed.start` on; `nil` before `open`.
    private var gate: FrameGate?
    private var hold = PaddingHold(paddingCount: 0)
    /// The format of the frames that follow, if it changed.
    private var nextFormat: AudioFormat?
    private var walk = StoredWalk()
    /// The tag in front of the music, while not all of its texts were read; `nil` otherwise.
    private var longTag: ID3v2Tag?
    /// The ReplayGain in the leading tags.
    private var tagged = Loudness()
    /// The length of the resource when it was last looked at.
    private var knownLength: Int64?
    /// The next known frame after an approximate landing. Decoding it gives the exact position.
    private var landmark: (frame: Int64, offset: Int64)?

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> OpenStream {
        try Task.checkCancellation()
        if let opened { return opened }
        var start = try await input.begun(as: .mpeg)
        guard let head = try await StreamHead.read(&start) else { throw start.notAudio(input.subject) }
        var map = StreamMap(head, audioEnd: source.length, lasting: input.statedDuration)
        if let table = SeekTable(stored: input.seekTable, for: map.key(length: source.length)) {
            map.table = table
        }
        let handle = try FeedHandle(subject: input.subject)
        feed.start = head.firstFrame
        feed.pending = head.bytes
        let made = OpenStream(handle: handle, map: map)
        opened = made
        gate = FrameGate(map.scan(fromFrame: 0, at: feed.start))
        input.forgetStart()
        info.format = map.format
        info.tags = start.tags
        info.chapters = start.chapters
        longTag = start.longTag
        tagged = start.loudness
        info.loudness = tagged.filled(from: head.xing?.loudness ?? Loudness())
        info.skippedByteCount = head.firstFrame - start.offset
        revise(by: map)
        try await lookAtTail(made)
        return made
    }

    private func revise(by map: StreamMap) {
        info.audioStart = map.origin
        info.codec = map.codec
        info.revise(by: map)
    }

    /// Reads the tags at the end once their bytes are stored, so that this needs no request.
    private func lookAtTail(_ opened: OpenStream) async throws {
        guard let length = source.length else { return }
        if let knownLength, length > knownLength {
            // The file is a recording in progress: the bytes at its earlier end are music, not tags.
            opened.map.audioEnd = length
            opened.map.isTailKnown = false
            revise(by: opened.map)
        }
        knownLength = length
        guard !opened.map.isTailKnown,
            let tail = try await StreamTail.stored(in: source, length: length, behind: opened.map.origin)
        else { return }
        opened.map.audioEnd = tail.audioEnd
        opened.map.isTailKnown = true
        revise(by: opened.map)
        if let tags = tail.tags { info.tags = info.tags.filled(from: tags) }
        // Leading tags take precedence over those at the end, and both over the header, which is not updated
        // when the file is changed later.
        info.loudness = tagged.filled(from: tail.loudness).filled(from: info.loudness ?? Loudness())
    }

    /// Reads the other texts and chapters of a long tag once they are stored, and fetches only short pieces
    /// of it.
    private func lookAtLongTag() async throws {
        guard var tag = longTag else { return }
        try await tag.readStored(in: source)
        tag.fetch(from: source)
        longTag = tag.wanted == nil ? nil : tag
        info.tags = tag.tags.filled(from: info.tags)
        if tag.chapters.count > info.chapters.count { info.chapters = tag.chapters }
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        let opened = try await opening()
        let room = pcm.count - pcm.count % info.format.bytesPerFrame
        let pcm = UnsafeMutableRawBufferPointer(rebasing: pcm[..<room]).bindMemory(to: Int16.self)
        var written = 0
        while true {
            written += hold.drain(into: UnsafeMutableBufferPointer(rebasing: pcm[written...]))
            guard !hold.hasMusic else { break }
            if let format = nextFormat {
                // The frames written so far have the old format and are returned first.
                guard written == 0 else { break }
                nextFormat = nil
                info.format = format
                return .formatChanged
            }
            guard !feed.isAtEnd else { break }
            switch try opened.handle.next() {
            case .frame(let frame):
                heard(frame, in: opened)
            case .format(let format) where format == info.format:
                break
            case .format(let format):
                nextFormat = format
                // More music follows, so none of the samples held back is padding.
                hold.release()
            case .needMore:
                // Decoded frames are returned before waiting for bytes.
                if written > 0 { return .frames(written / info.format.channelCount) }
                if try await !feedMore(opened.handle) { finish(opened) }
            case .end:
                finish(opened)
            }
        }
        return written > 0 ? .frames(written / info.format.channelCount) : .end
    }

    /// Reads the next bytes and feeds the frames in them; `false` at the end of the resource.
    private func feedMore(_ handle: FeedHandle) async throws -> Bool {
        var bytes = feed.pending
        if bytes.isEmpty {
            let place = feed.start + feed.fedByteCount
            bytes = try await source.read(at: place, count: ByteWindow.playingByteCount)
        }
        feed.pending = []
        feed.fedByteCount += Int64(bytes.count)
        guard !bytes.isEmpty else { return false }
        for frames in gate?.pass(bytes) ?? [] { try handle.feed(frames) }
        return true
    }

    /// Records the position of a decoded MPEG frame, and holds its samples, except padding and those before
    /// the wanted sample.
    private func heard(_ decoded: FeedHandle.Frame, in opened: OpenStream) {
        let place = gate?.offset(afterFed: decoded.offset) ?? feed.start
        if !feed.isExact { lookForLandmark(decoded.number, at: place, opened) }
        let frame = feed.firstFrame + decoded.number
        let skipped = feed.advance(to: frame, at: place, byteCount: decoded.byteCount)
        if skipped > 0 { info.skippedByteCount += skipped }
        let channels = info.format.channelCount
        let count = FrameCount(decoded.samples.count / channels)
        if feed.isExact { note(frame, count, at: place, in: opened) }
        let first = frame * opened.map.samplesPerFrame
        let range = first..<first + count
        let wanted = range.clamped(to: feed.wantedSample..<FrameCount.max)
        guard !wanted.isEmpty else { return }
        for part in feed.isExact ? opened.map.trim.music(in: wanted) : [wanted] {
            let start = Int(part.lowerBound - first) * channels
            hold.append(decoded.samples[start..<start + part.count * channels])
        }
    }

    /// Records the offset `place` of frame `frame`, whose number is exact and which has `count` PCM frames.
    private func note(_ frame: Int64, _ count: FrameCount, at place: Int64, in opened: OpenStream) {
        if frame == 0, place != opened.map.origin {
            opened.map.rebase(to: place)
            walk = StoredWalk()
        }
        let isOfKind =
            info.format.sampleRate == opened.map.header.sampleRate
            && (count == 0 || count == opened.map.samplesPerFrame)
        if !isOfKind, feed.turn == nil { feed.turn = (frame, .zero) }
        if feed.turn != nil {
            feed.turn?.length += info.format.duration(of: count)
        } else {
            opened.map.observe(frame: frame, at: place)
            if frame % 256 == 0 { revise(by: opened.map) }
        }
    }

    /// Checks if the `number`th frame since an approximate landing is at a known offset, which makes all
    /// frame numbers exact.
    private func lookForLandmark(_ number: Int64, at place: Int64, _ opened: OpenStream) {
        let distance = place - opened.map.origin
        if let landmark, landmark.offset < distance {
            self.landmark = opened.map.table.point(atOrBehind: distance)
        }
        if let landmark, landmark.offset == distance { correct(firstFrame: landmark.frame - number, opened) }
    }

    /// Corrects the position: the first frame since the landing is frame `first`.
    private func correct(firstFrame first: Int64, _ opened: OpenStream) {
        guard first >= 0 else { return }
        let map = opened.map
        let shift = first - feed.firstFrame
        feed.firstFrame = first
        feed.isExact = true
        feed.wantedSample = max(0, feed.wantedSample + shift * map.samplesPerFrame)
        feed.lastFrame = feed.lastFrame.map { $0 + shift }
        let channels = info.format.channelCount
        let end = feed.lastFrame.map { ($0 + 1) * map.samplesPerFrame } ?? 0
        let start = end - FrameCount(hold.heldCount / channels)
        hold.release { index in
            let sample = start + FrameCount(index / channels)
            return !map.trim.music(in: sample..<sample + 1).isEmpty
        }
        let frame = map.trim.position(ofSample: feed.wantedSample)
        correctedLanding = SeekLanding(frame: frame, isExact: true)
    }

    package func scanStored() async throws -> Bool {
        let opened = try await opening()
        try await lookAtTail(opened)
        try await lookAtLongTag()
        let length = source.length
        guard let offset = walk.wanted(in: opened.map, length: length, isStored: source.isStored) else {
            return false
        }
        let bytes = try await source.readStored(at: offset, count: StoredWalk.slice)
        let watched = feed.isExact ? nil : feed.firstPlace
        var arrived: Int64?
        walk.took(bytes, length: length, into: &opened.map) { number, place in
            if place == watched { arrived = number }
        }
        if let arrived { correct(firstFrame: arrived, opened) }
        revise(by: opened.map)
        return true
    }

    /// Ends the music. If all frames were counted, its length is known now.
    private func finish(_ opened: OpenStream) {
        feed.isAtEnd = true
        guard feed.isExact, let last = feed.lastFrame else { return }
        if let turn = feed.turn {
            let before = opened.map.trim.position(ofSample: turn.frame * opened.map.samplesPerFrame)
            opened.map.mixedLength = opened.map.format.duration(of: before) + turn.length
        } else {
            opened.map.ended(after: last + 1)
        }
        revise(by: opened.map)
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        let opened = try await opening()
        nextFormat = nil
        var lander = SeekLander(source, opened.map)
        let feed = try await lander.land(at: time)
        // Reopened only after the last `await`, so that a cancelled seek changes nothing.
        try opened.handle.reopen()
        opened.map = lander.map
        // If the actual format differs, libmpg123 reports it with the first frame.
        info.format = lander.map.format
        self.feed = feed
        gate = FrameGate(lander.map.scan(fromFrame: feed.firstFrame, at: feed.start))
        hold = PaddingHold(
            paddingCount: feed.isExact ? 0 : (opened.map.trim.padding?.count ?? 0) * info.format.channelCount
        )
        correctedLanding = nil
        landmark = feed.isExact ? nil : (frame: 0, offset: -1)
        let frame = lander.map.trim.position(ofSample: feed.wantedSample)
        return SeekLanding(frame: frame, isExact: feed.isExact)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let map = opened?.map else { return false }
        return SeekLander(source, map).isStored(at: map.position(at: time))
    }

    package func seekTable() -> [UInt8] {
        guard let map = opened?.map else { return [] }
        return map.table.stored(for: map.key(length: source.length))
    }
}

/// An open stream: the handle that decodes it, and the map, to which every decoded frame is added.
///
/// A class, so that `map` has one owner and is changed in place. With a second owner, each recorded frame
/// would copy the whole seek table, and decoding would take time quadratic in the length of the track.
final class OpenStream {
    let handle: FeedHandle
    var map: StreamMap

    init(handle: FeedHandle, map: StreamMap) {
        self.handle = handle
        self.map = map
    }
}

/// Decoded samples: those for which the caller's buffer has had no room yet and, while frame numbers are
/// estimates, the last ones decoded.
///
/// The last ones are padding if the stream ends after them, and music if it continues.
struct PaddingHold {
    /// How many samples, of all channels together, are held back.
    private var paddingCount: Int
    private var held: [Int16] = []

    init(paddingCount: Int) { self.paddingCount = max(0, paddingCount) }

    var heldCount: Int { held.count }

    /// `true` if some of the held samples are known to be music; those are the first ones.
    var hasMusic: Bool { held.count > paddingCount }

    mutating func append(_ samples: some Collection<Int16>) { held.append(contentsOf: samples) }

    /// Treats all held samples as music, except those for whose index `keeps` returns `false`.
    mutating func release(keeping keeps: (Int) -> Bool = { _ in true }) {
        paddingCount = 0
        held = held.indices.filter(keeps).map { held[$0] }
    }

    /// Writes samples that are known to be music to `pcm`; returns how many.
    mutating func drain(into pcm: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = min(max(0, held.count - paddingCount), pcm.count)
        guard count > 0 else { return 0 }
        _ = held.withUnsafeBufferPointer { pcm.update(fromContentsOf: $0.prefix(count)) }
        held.removeFirst(count)
        return count
    }
}
